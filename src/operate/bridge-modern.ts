/**
 * The modern era (MCP 2026-07-28, basic/transports) on the way from standard input to HTTP: nobody opens a
 * session, what a request says of itself stands in its headers too, and to cancel one is to close it.
 */
import { headersOfModernRequest } from '../protocol/modern-request.ts';
import { errorResponse, type RpcMessage, type RpcRequest } from '../protocol/json-rpc.ts';
import { exchange, passAnswer, unreachable, type Endpoint } from './bridge-http.ts';

export interface ModernSideOptions {
  readonly endpoint: Endpoint;
  readonly write: (line: string) => void;
  /** Closes every request. */
  readonly signal: AbortSignal;
}

export interface ModernSide {
  /** @returns whether the message was of this era, once it was answered. @throws when the endpoint did not answer */
  took(line: string, message: RpcMessage): Promise<boolean>;
}

export function createModernSide({ endpoint, write, signal }: ModernSideOptions): ModernSide {
  const open = new Map<string, AbortController>();

  async function pass(line: string, { idText }: RpcRequest, headers: Readonly<Record<string, string>>): Promise<void> {
    const cancelled = new AbortController();
    open.set(idText, cancelled);
    try {
      const answer = await exchange(endpoint, { method: 'POST', headers, body: line, signal: AbortSignal.any([signal, cancelled.signal]) });
      const wasAnswered = await passAnswer(answer, write);
      if (!wasAnswered && answer.statusCode !== 200) write(errorResponse(idText, unreachable));
    } catch (error) {
      if (!cancelled.signal.aborted) throw error;
    } finally {
      open.delete(idText);
    }
  }

  return {
    async took(line, message) {
      if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        const request = open.get(JSON.stringify(message.params['requestId']));
        request?.abort();
        return request !== undefined;
      }
      const headers = message.kind === 'request' ? headersOfModernRequest(message) : undefined;
      if (message.kind !== 'request' || headers === undefined) return false;
      await pass(line, message, headers);
      return true;
    },
  };
}

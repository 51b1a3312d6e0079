/** The upstream port: one MCP server that nobody may change, and how a request reaches it. */
import type { Dispatcher } from 'undici';

/** What takes the answer as it arrives: status, bytes, end or failure. The shapes are undici's own. */
export type AnswerHandler = Dispatcher.DispatchHandler;
export type AnswerController = Dispatcher.DispatchController;

export interface UpstreamRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Name, value, name, value …; no hop-by-hop headers and no Host. */
  readonly headers: string[];
  readonly body?: Buffer;
  /** Parameters for the address: name, value, name, value …; each in place of one of that name. */
  readonly query?: readonly string[];
}

export interface Upstream {
  /** Sends once; never again by itself. Nothing is thrown: every failure goes to the handler. */
  send(request: UpstreamRequest, handler: AnswerHandler): void;
  close(): Promise<void>;
}

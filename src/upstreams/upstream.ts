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
  /** Who asks, as an opaque key: what one person opened serves nobody else. */
  readonly person?: string;
  /** What her credentials put into the environment of a process of her own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Those of the headers that hold her credentials: name, value, name, value … */
  readonly injected?: readonly string[];
  /** What of all this must reach no log. */
  readonly secrets?: readonly string[];
}

export interface Upstream {
  /** Sends once; never again by itself. Nothing is thrown: every failure goes to the handler. */
  send(request: UpstreamRequest, handler: AnswerHandler): void;
  /** Ends what was opened with this person's secrets; calls that are under way may finish. */
  forget?(person: string): void;
  close(): Promise<void>;
}

/** One session of ours: whose it is, which calls are open in it, and where what comes unasked goes. */
import type { ClientMessage } from './client-message.ts';
import type { Conversation } from './conversation.ts';
import type { Exchange } from './exchange.ts';

export interface Session {
  readonly id: string;
  readonly person: string;
  /** The client's own `initialize` parameters, as text. */
  readonly params: string;
  /** Conversations that serve it. */
  readonly conversations: Set<Conversation>;
}

interface OpenCall {
  readonly exchange: Exchange;
  readonly conversation: Conversation;
  readonly breakOff: () => void;
}

export interface Route {
  readonly session: Session;
  /** By the client's own id. */
  readonly calls: Map<string, OpenCall>;
  stream: Exchange | undefined;
  /** Said while nobody listened. */
  readonly waiting: string[];
  /** Characters of those. */
  waitingLength: number;
  /** The client's last word on what is to be logged: every conversation of the session is told. */
  level: ClientMessage | undefined;
}

const mostWaiting = 100;
const longestWaiting = 4 * 1024 * 1024;

export function createRoute(session: Session): Route {
  return { session, calls: new Map(), stream: undefined, waiting: [], waitingLength: 0, level: undefined };
}

/** The standalone stream, else the stream of a call that is open, else whoever opens a stream next. */
export function say(route: Route, message: string, conversation: Conversation): void {
  if (route.stream !== undefined && !route.stream.isOver) {
    route.stream.event(message);
    return;
  }
  const open = openCall(route, conversation);
  if (open !== undefined) {
    open.exchange.event(message);
    return;
  }
  route.waiting.push(message);
  route.waitingLength += message.length;
  while (route.waiting.length > mostWaiting || route.waitingLength > longestWaiting) route.waitingLength -= route.waiting.shift()?.length ?? 0;
}

/** The newest call of this session that runs in a conversation. */
export function openCall(route: Route, conversation: Conversation): OpenCall | undefined {
  return [...route.calls.values()].findLast((call) => call.conversation === conversation && !call.exchange.isOver);
}

/** The new stream takes the place of the one before, and gets what was said meanwhile. */
export function openStream(route: Route, exchange: Exchange): void {
  route.stream?.end();
  route.stream = exchange;
  exchange.onAbort = () => { if (route.stream === exchange) route.stream = undefined; };
  exchange.stream();
  route.waitingLength = 0;
  for (const message of route.waiting.splice(0)) exchange.event(message);
}

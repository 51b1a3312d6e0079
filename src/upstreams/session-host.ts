/**
 * Streamable HTTP towards the gateway, for upstreams that do not speak it: sessions with ids of ours,
 * answers as JSON or, once something comes before the answer, as an event stream, one standalone stream for
 * each session, DELETE. Every session belongs to one person. What a conversation says by itself goes to
 * that person's sessions and to nobody else.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { refusals } from '../errors.ts';
import { memberText } from '../protocol/json-edit.ts';
import type { RpcErrorBody } from '../protocol/json-rpc.ts';
import { readClientMessage, withMember, type ClientMessage } from './client-message.ts';
import type { Caller, Conversation, Owner } from './conversation.ts';
import { Exchange } from './exchange.ts';
import { UpstreamFailure, type Report } from './peer.ts';
import { createRoute, openCall, openStream, say, type Route, type Session } from './session-route.ts';
import type { AnswerHandler, Upstream, UpstreamRequest } from './upstream.ts';

/** Where conversations come from. */
export interface Conversations {
  /** Whether `discovery` is heard by nobody but who asks; otherwise it is the session's own. */
  readonly isDiscoveryShared: boolean;
  /** For what shows nothing of a person: the handshake, lists. */
  discovery(session: Session, request: UpstreamRequest, owner: Owner): Conversation;
  /** For everything else. */
  own(session: Session, request: UpstreamRequest, owner: Owner): Conversation;
  /** For a request of the modern era, which has no session; absent where the transport is older. */
  modern?(message: ClientMessage, request: UpstreamRequest): Conversation | undefined;
  /** The session is over. */
  left(session: Session): void;
  forget(person: string): void;
  close(): Promise<void>;
}

const mostSessions = 20_000;
const setLevel = 'logging/setLevel';
const lists = new Set(['ping', 'tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', setLevel]);
const invalidRequest: RpcErrorBody = { code: -32600, message: 'This server speaks an older revision of MCP: begin with initialize.' };
const nobody: Caller = { answered: () => undefined, told: () => undefined, failed: () => undefined };

export class SessionHost implements Upstream {
  readonly #conversations: Conversations;
  readonly #report: Report;
  readonly #routes: LRUCache<string, Route>;
  /** The sessions that a conversation serves; the one that called last stands last. */
  readonly #listeners = new WeakMap<Conversation, Set<string>>();
  readonly #owner: Owner = {
    request: (message, conversation) => {
      const listeners = this.#routesOf(conversation);
      // A question has one answer: whoever calls, or called last, is asked.
      const asked = listeners.findLast((route) => openCall(route, conversation) !== undefined) ?? listeners.at(-1);
      if (asked !== undefined) say(asked, message, conversation);
    },
    notification: (message, conversation) => {
      for (const route of this.#routesOf(conversation)) say(route, message, conversation);
    },
  };

  constructor(conversations: Conversations, report: Report) {
    this.#conversations = conversations;
    this.#report = report;
    this.#routes = new LRUCache({
      max: mostSessions,
      dispose: (route) => {
        route.stream?.end();
        conversations.left(route.session);
      },
    });
  }

  send(request: UpstreamRequest, handler: AnswerHandler): void {
    const exchange = new Exchange(handler);
    const id = headerOf(request, 'mcp-session-id');
    const route = id === undefined ? undefined : this.#routeOf(request, id);
    if (request.method === 'POST') this.#post(request, id, route, exchange);
    else if (route === undefined || id === undefined) exchange.status(404);
    else if (request.method === 'GET') openStream(route, exchange);
    else {
      this.#routes.delete(id);
      exchange.status(200);
    }
  }

  forget(person: string): void {
    this.#conversations.forget(person);
  }

  /** The upstream has lost a session: it is unknown from now on. */
  end(session: string): void {
    this.#routes.delete(session);
  }

  async close(): Promise<void> {
    this.#routes.clear();
    await this.#conversations.close();
  }

  #post(request: UpstreamRequest, id: string | undefined, route: Route | undefined, exchange: Exchange): void {
    const message = request.body === undefined ? undefined : readClientMessage(request.body);
    try {
      if (message === undefined) exchange.refuse(400, undefined, { code: -32700, message: 'Parse error' });
      else if (message.method === 'initialize') this.#initialize(message, request, exchange);
      else if (id === undefined) this.#sessionless(message, request, exchange);
      else if (route === undefined) exchange.refuse(404, message.idText, { code: -32600, message: 'Unknown session' });
      else if (message.method === undefined || message.idText === undefined) this.#notified(route, message, exchange);
      else this.#call(route, message, request, exchange);
    } catch (error) {
      this.#fail(exchange, message?.idText, 200, error);
    }
  }

  #initialize(message: ClientMessage, request: UpstreamRequest, exchange: Exchange): void {
    const session: Session = { id: randomUUID(), person: request.person ?? '', params: memberText(message.text, ['params']) ?? '{}', conversations: new Set() };
    const conversation = this.#conversations.discovery(session, request, this.#owner);
    const abandon = (): void => { this.#conversations.left(session); };
    exchange.onAbort = abandon;
    conversation.opened.then(
      (opened) => {
        if (exchange.isOver) return;
        const answer = withMember(opened, ['id'], message.idText ?? 'null');
        const isOpened = memberText(opened, ['result']) !== undefined;
        if (isOpened) this.#begin(session, conversation);
        exchange.json(200, answer, isOpened ? { 'mcp-session-id': session.id } : {});
      },
      (error: unknown) => {
        abandon();
        this.#fail(exchange, message.idText, 200, error);
      },
    );
  }

  #begin(session: Session, conversation: Conversation): void {
    const route = createRoute(session);
    this.#routes.set(session.id, route);
    if (!this.#conversations.isDiscoveryShared) this.#listen(route, conversation);
  }

  /** A request without a session is one of the modern era, or of a client that has not begun. */
  #sessionless(message: ClientMessage, request: UpstreamRequest, exchange: Exchange): void {
    const conversation = message.idText === undefined ? undefined : this.#conversations.modern?.(message, request);
    if (conversation === undefined) {
      exchange.refuse(400, message.idText, invalidRequest);
      return;
    }
    conversation.opened.then(
      (opened) => {
        if (exchange.isOver) return;
        if (memberText(opened, ['result']) === undefined) exchange.refuse(400, message.idText, invalidRequest);
        else this.#carry(conversation, message, exchange, 502, () => undefined);
      },
      // Many programs of the older era say nothing, or end, when they are not greeted first.
      () => { exchange.refuse(400, message.idText, invalidRequest); },
    );
  }

  #notified(route: Route, message: ClientMessage, exchange: Exchange): void {
    const { conversations } = route.session;
    if (message.method === 'notifications/cancelled') {
      const call = route.calls.get(memberText(message.text, ['params', 'requestId']) ?? '');
      call?.breakOff();
      // Nothing is answered, and the connection is not left open either.
      call?.exchange.stream();
      call?.exchange.end();
    } else if (message.method === undefined) [...conversations].some((one) => one.answer(message));
    else if (message.method !== 'notifications/initialized') for (const one of conversations) one.notify(message.text);
    exchange.status(202);
  }

  #call(route: Route, message: ClientMessage, request: UpstreamRequest, exchange: Exchange): void {
    const isShared = this.#conversations.isDiscoveryShared && lists.has(message.method ?? '') && !carriesSecrets(request);
    if (message.method === setLevel) {
      route.level = message;
      for (const one of route.session.conversations) one.call(message, nobody);
    }
    const conversation = isShared ? this.#conversations.discovery(route.session, request, this.#owner) : this.#conversations.own(route.session, request, this.#owner);
    if (!isShared) this.#listen(route, conversation);
    const idText = message.idText ?? 'null';
    const breakOff = this.#carry(conversation, message, exchange, 200, () => { route.calls.delete(idText); });
    if (!exchange.isOver) route.calls.set(idText, { exchange, conversation, breakOff });
  }

  /**
   * Carries one request to a conversation and what comes of it to its exchange.
   * @param failureStatus of an answer that says that there is none
   * @param over is called when nobody waits any more
   * @returns breaks the request off
   */
  #carry(conversation: Conversation, message: ClientMessage, exchange: Exchange, failureStatus: number, over: () => void): () => void {
    const breakOff = conversation.call(message, {
      answered(answer) {
        over();
        if (!exchange.isStreaming) exchange.json(200, answer);
        else {
          exchange.event(answer);
          exchange.end();
        }
      },
      told: (notification) => { exchange.event(notification); },
      failed: (failure) => {
        over();
        this.#fail(exchange, message.idText, failureStatus, failure);
      },
    });
    const breakOffOnce = (): void => {
      over();
      breakOff();
    };
    exchange.onAbort = breakOffOnce;
    return breakOffOnce;
  }

  #fail(exchange: Exchange, idText: string | undefined, status: number, error: unknown): void {
    if (!(error instanceof UpstreamFailure)) {
      exchange.fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#report({ outcome: error.reason, reason: error.code }, 'the upstream failed');
    exchange.refuse(status, idText, { code: refusals[error.reason].code, message: error.message });
  }

  #listen(route: Route, conversation: Conversation): void {
    const { id, conversations } = route.session;
    const sessions = this.#listeners.get(conversation) ?? new Set();
    this.#listeners.set(conversation, sessions);
    sessions.delete(id);
    sessions.add(id);
    for (const other of conversations) if (other.isEnded) conversations.delete(other);
    if (conversations.has(conversation)) return;
    conversations.add(conversation);
    if (route.level !== undefined) conversation.call(route.level, nobody);
  }

  #routesOf(conversation: Conversation): Route[] {
    return [...(this.#listeners.get(conversation) ?? [])].flatMap((id) => this.#routes.peek(id) ?? []);
  }

  #routeOf(request: UpstreamRequest, id: string): Route | undefined {
    const route = this.#routes.get(id);
    return route?.session.person === (request.person ?? '') ? route : undefined;
  }
}

export function carriesSecrets({ env, injected }: UpstreamRequest): boolean {
  return (env !== undefined && Object.keys(env).length > 0) || (injected !== undefined && injected.length > 0);
}

function headerOf({ headers }: UpstreamRequest, name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) if (headers[at]?.toLowerCase() === name) return headers[at + 1];
  return undefined;
}

/**
 * One JSON-RPC conversation with a peer that speaks to a single client: opened with a client's own
 * parameters, then shared by that client's calls. Every request has an id of ours here, so the clients' own
 * ids may be equal; each answer goes back under the id text that its caller wrote. Progress tokens are
 * replaced likewise. What the peer asks by itself goes to the owner under an id that nobody can guess.
 */
import { randomUUID } from 'node:crypto';
import { memberText } from '../protocol/json-edit.ts';
import { errorResponse, isObject, resultResponse, type JsonObject } from '../protocol/json-rpc.ts';
import { onOneLine, parse, withMember, type ClientMessage } from './client-message.ts';
import { tooSlow, UpstreamFailure, type Connect, type Peer } from './peer.ts';

/** Who waits for one answer. */
export interface Caller {
  /** The answer, under the caller's own id. */
  answered(message: string): void;
  /** Something about this call, before its answer. */
  told(message: string): void;
  failed(failure: UpstreamFailure): void;
}

/** Who hears what the peer says by itself. Without one its requests are refused and its notifications dropped. */
export interface Owner {
  request(message: string, conversation: Conversation): void;
  notification(message: string, conversation: Conversation): void;
}

/** How a conversation begins: a request of ours, and a notification once it was answered. */
export interface Opening {
  readonly method: 'initialize' | 'server/discover';
  /** JSON text. */
  readonly params: string;
}

export interface ConversationSettings {
  readonly opening: Opening;
  readonly owner: Owner | undefined;
  /** How long an answer may take. */
  readonly timeoutMs: number;
  readonly openWithinMs: number;
  /** A line that is no message. */
  readonly noise: (line: string) => void;
}

interface Pending {
  readonly caller: Caller;
  readonly idText: string;
  readonly tokenText: string | undefined;
  readonly timer: NodeJS.Timeout;
  /** What is sent once the conversation is open. */
  readonly message: string;
}

const methodNotFound = { code: -32601, message: 'Method not found' };
/** Requests of a peer that nobody has answered. */
const mostOpenQuestions = 1_000;

export class Conversation {
  /** The whole answer to the opening; rejects with an UpstreamFailure. */
  readonly opened: Promise<string>;
  /** Called when the last open call is over. */
  onIdle: () => void = () => undefined;
  onEnded: () => void = () => undefined;
  /** Called when it ended without having been told to. */
  onLost: () => void = () => undefined;
  lastUsedAt = 0;
  readonly #settings: ConversationSettings;
  readonly #peer: Peer;
  readonly #pending = new Map<number, Pending>();
  /** Ids of ours under which the client was asked, with the peer's own. */
  readonly #questions = new Map<string, string>();
  #state: 'opening' | 'open' | 'ended' = 'opening';
  #lastId = 0;
  #settle = Promise.withResolvers<string>();
  readonly #openTimer: NodeJS.Timeout;

  constructor(connect: Connect, settings: ConversationSettings) {
    this.#settings = settings;
    this.opened = this.#settle.promise;
    // Whoever waits hears of it through `opened` or through the call.
    this.opened.catch(() => undefined);
    this.#openTimer = setTimeout(() => { void this.end(tooSlow()); }, settings.openWithinMs);
    this.#peer = connect({
      message: (line) => { this.#read(line); },
      ended: (failure) => {
        const isLost = this.#state === 'open';
        void this.end(failure);
        if (isLost) this.onLost();
      },
    });
    this.#peer.send(`{"jsonrpc":"2.0","id":0,"method":"${settings.opening.method}","params":${settings.opening.params}}`);
  }

  get openCalls(): number {
    return this.#pending.size;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Sends a request. @returns breaks it off: the peer is told, and nobody waits any more */
  call(message: ClientMessage, caller: Caller): () => void {
    const id = ++this.#lastId;
    const tokenText = memberText(message.text, ['params', '_meta', 'progressToken']);
    const numbered = withMember(message.text, ['id'], String(id));
    const text = tokenText === undefined ? numbered : withMember(numbered, ['params', '_meta', 'progressToken'], String(id));
    const timer = setTimeout(() => { if (this.#breakOff(id)) caller.failed(tooSlow()); }, this.#settings.timeoutMs);
    this.#pending.set(id, { caller, idText: message.idText ?? 'null', tokenText, timer, message: text });
    if (this.#state === 'open') this.#peer.send(text);
    else if (this.#state === 'ended') this.#take(id)?.caller.failed(ended());
    return () => { this.#breakOff(id); };
  }

  notify(text: string): void {
    if (this.#state === 'open') this.#peer.send(text);
  }

  /** Gives a client's answer to a question of the peer's. @returns whether there was such a question */
  answer(message: ClientMessage): boolean {
    const id: unknown = message.idText === undefined ? undefined : JSON.parse(message.idText);
    const asked = typeof id === 'string' ? this.#questions.get(id) : undefined;
    if (typeof id !== 'string' || asked === undefined) return false;
    this.#questions.delete(id);
    this.notify(withMember(message.text, ['id'], asked));
    return true;
  }

  /** Ends it; calls that are open fail. @returns when the peer is gone */
  async end(failure: UpstreamFailure = ended()): Promise<void> {
    if (this.#state !== 'ended') {
      this.#state = 'ended';
      clearTimeout(this.#openTimer);
      this.#settle.reject(failure);
      for (const id of [...this.#pending.keys()]) this.#take(id)?.caller.failed(failure);
      this.onEnded();
    }
    await this.#peer.close();
  }

  #read(line: string): void {
    const message = this.#state === 'ended' ? undefined : parse(line);
    if (this.#state === 'ended') return;
    if (message?.['jsonrpc'] !== '2.0') this.#settings.noise(line);
    else if (typeof message['method'] !== 'string') this.#answered(message, onOneLine(line));
    else if ('id' in message) this.#asked(message['method'], onOneLine(line));
    else this.#told(message['method'], message, onOneLine(line));
  }

  #answered(message: JsonObject, text: string): void {
    const { id } = message;
    if (id === 0 && this.#state === 'opening') this.#open(message, text);
    if (typeof id !== 'number') return;
    const pending = this.#take(id);
    pending?.caller.answered(withMember(text, ['id'], pending.idText));
    if (pending !== undefined && this.#pending.size === 0) this.onIdle();
  }

  #open(message: JsonObject, text: string): void {
    clearTimeout(this.#openTimer);
    this.#state = 'open';
    const isOpened = isObject(message['result']);
    if (isOpened && this.#settings.opening.method === 'initialize') this.#peer.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    this.#settle.resolve(text);
    if (isOpened) for (const pending of this.#pending.values()) this.#peer.send(pending.message);
    else void this.end(new UpstreamFailure('unreachable', 'REFUSED', 'The program behind this server refused to begin.'));
  }

  #asked(method: string, text: string): void {
    const idText = memberText(text, ['id']) ?? 'null';
    const { owner } = this.#settings;
    if (method === 'ping') this.notify(resultResponse(idText, {}));
    else if (owner === undefined || this.#questions.size >= mostOpenQuestions) this.notify(errorResponse(idText, methodNotFound));
    else {
      const id = randomUUID();
      this.#questions.set(id, idText);
      owner.request(withMember(text, ['id'], JSON.stringify(id)), this);
    }
  }

  #told(method: string, message: JsonObject, text: string): void {
    const params = isObject(message['params']) ? message['params'] : {};
    if (method === 'notifications/progress') {
      const pending = typeof params['progressToken'] === 'number' ? this.#pending.get(params['progressToken']) : undefined;
      if (pending?.tokenText !== undefined) pending.caller.told(withMember(text, ['params', 'progressToken'], pending.tokenText));
      return;
    }
    if (method === 'notifications/cancelled') {
      const asked = memberText(text, ['params', 'requestId']);
      const question = [...this.#questions].find(([, idText]) => idText === asked)?.[0];
      if (question === undefined) return;
      this.#questions.delete(question);
      this.#settings.owner?.notification(withMember(text, ['params', 'requestId'], JSON.stringify(question)), this);
      return;
    }
    this.#settings.owner?.notification(text, this);
  }

  #breakOff(id: number): boolean {
    const pending = this.#take(id);
    if (pending === undefined) return false;
    this.notify(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`);
    if (this.#pending.size === 0) this.onIdle();
    return true;
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }
}

function ended(): UpstreamFailure {
  return new UpstreamFailure('unreachable', 'ENDED', 'The server behind this proxy ended before it answered.');
}

/**
 * The requests of each session that are on their way. Clients reuse ids: several chats share one session,
 * or a client counts anew. Many servers find the stream of an answer by its id, so of two equal ids at once
 * the second goes upstream under a lent name and comes back under its own (JSON-RPC 2.0 §4). Requests that
 * meet no other keep every byte. Known to this process only.
 */
import { lendName } from '../protocol/lent-names.ts';

/** One request on its way. */
export interface Flight {
  /** What the upstream knows it and its progress by, as JSON text; the client's own where nothing collides. */
  readonly idText: string;
  readonly tokenText: string | undefined;
  /** One of them is not the client's own. */
  readonly isLent: boolean;
  /** The upstream is done with it. @param isTask it goes on as a task, and so does its progress (MCP 2025-11-25, tasks) */
  over(isTask: boolean): void;
}

export interface InFlight {
  /**
   * @param session id of the session
   * @param idText as the client wrote it
   * @param tokenText its progress token, as JSON text
   */
  begin(session: string, idText: string, tokenText: string | undefined): Flight;
  /** What the upstream knows this request by: of several under one id the newest, like in the client. */
  nameOf(session: string, idText: string): string | undefined;
  /** Whether a request that is under way gave this progress token. @param token its value */
  awaitsProgress(session: string, token: unknown): boolean;
}

/** A name in use. */
interface Name {
  readonly own: string;
  readonly lent: string;
}

/** By what some servers compare; each list in the order in which they began. */
type NamesInUse = Map<string, Name[]>;

interface SessionFlights {
  readonly ids: NamesInUse;
  readonly tokens: NamesInUse;
  /** Progress tokens of tasks, the newest last. */
  readonly taskTokens: Set<string>;
}

const newestTaskTokens = 100;
const sessionsWithTasks = 10_000;

/** @param unique makes 16 hexadecimal digits that never repeat */
export function createInFlight(unique: () => string): InFlight {
  const bySession = new Map<string, SessionFlights>();

  function take(names: NamesInUse, own: string): Name {
    const key = keyOf(own);
    const others = names.get(key) ?? [];
    const name = { own, lent: others.length === 0 ? own : lendName(own, unique()) };
    names.set(key, [...others, name]);
    return name;
  }
  /** What only waits for the progress of tasks gives way to newer sessions. */
  function makeRoom(): void {
    if (bySession.size < sessionsWithTasks) return;
    for (const [session, { ids }] of bySession) {
      if (ids.size === 0) return void bySession.delete(session);
    }
  }

  return {
    begin(session, idText, tokenText) {
      const flights = bySession.get(session) ?? { ids: new Map(), tokens: new Map(), taskTokens: new Set() };
      if (!bySession.has(session)) makeRoom();
      bySession.set(session, flights);
      const id = take(flights.ids, idText);
      const token = tokenText === undefined ? undefined : take(flights.tokens, tokenText);
      return {
        idText: id.lent,
        tokenText: token?.lent,
        isLent: id.lent !== id.own || token?.lent !== token?.own,
        over(isTask) {
          release(flights.ids, id);
          if (token !== undefined) release(flights.tokens, token);
          if (token !== undefined && isTask) keepNewest(flights.taskTokens, keyOf(token.own));
          if (flights.ids.size === 0 && flights.taskTokens.size === 0 && bySession.get(session) === flights) bySession.delete(session);
        },
      };
    },
    nameOf: (session, idText) => bySession.get(session)?.ids.get(keyOf(idText))?.findLast(({ own }) => own === idText)?.lent,
    awaitsProgress(session, token) {
      const flights = bySession.get(session);
      return flights !== undefined && (flights.tokens.has(String(token)) || flights.taskTokens.has(String(token)));
    },
  };
}

function release(names: NamesInUse, name: Name): void {
  const left = (names.get(keyOf(name.own)) ?? []).filter((one) => one !== name);
  if (left.length === 0) names.delete(keyOf(name.own));
  else names.set(keyOf(name.own), left);
}

function keepNewest(tokens: Set<string>, key: string): void {
  tokens.delete(key);
  tokens.add(key);
  const [oldest] = tokens;
  if (tokens.size > newestTaskTokens && oldest !== undefined) tokens.delete(oldest);
}

/** Some servers do not tell 1 from "1", nor apart what their numbers cannot hold. */
function keyOf(text: string): string {
  return String(JSON.parse(text));
}

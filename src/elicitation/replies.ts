/**
 * What a client answers to a question that was put on its call's own stream. The answer comes by another
 * request, perhaps to another process, so it travels through the store; it belongs to the session that was
 * asked, and to a question that is open there. So does its word that it no longer wants the call.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';

/** `failed`: it could not be put to the person. */
export type Reply = 'accept' | 'decline' | 'cancel' | 'failed';

export interface Replies {
  /** @returns the id of a request to the client in this session; its answer is taken for `keepMs` */
  expect(sessionId: string, keepMs: number): Promise<string>;
  /** Takes an answer; what nobody expects, or a second one, is dropped. */
  give(sessionId: string, requestId: string, reply: Reply): Promise<void>;
  read(sessionId: string, requestId: string): Promise<Reply | undefined>;
  watch(sessionId: string, listener: () => void): () => void;
  /** Whether a response answers a request of ours, in any process and at any time; to one of another proxy behind us it does not. */
  isOwn(requestId: unknown): requestId is string;
  /** Lets this session cancel a held call for `keepMs`. @param idText the call's id as the client wrote it */
  expectCancel(sessionId: string, idText: string, keepMs: number): Promise<void>;
  cancel(sessionId: string, idText: string): Promise<void>;
  isCancelled(sessionId: string, idText: string): Promise<boolean>;
}

const prefix = 'elicitgate-';
const markLength = 22;

export function createReplies(store: Store, ring: KeyRing, namespace: string): Replies {
  const records = createRecords<{ readonly reply?: Reply; readonly keepMs: number }>(store, ring, namespace, 'reply');
  const channel = (sessionId: string): string => `reply/${namespace}/${sessionId}`;
  const recordId = (sessionId: string, requestId: string) => ({ owner: [sessionId], item: [requestId] });
  const cancelId = (sessionId: string, idText: string) => ({ owner: [sessionId], item: ['cancel', idText] });
  const marks = (random: string): readonly string[] => ring.derive('reply').map((key) => createHmac('sha256', key).update(JSON.stringify([namespace, random])).digest('base64url').slice(0, markLength));

  /** Takes what is expected, once. */
  async function take(id: ReturnType<typeof recordId>, sessionId: string, reply: Reply): Promise<void> {
    const held = await records.get(id);
    if (held === undefined || held.value.reply !== undefined) return;
    if (await records.replace(held, { ...held.value, reply }, held.value.keepMs)) await store.publish(channel(sessionId));
  }
  return {
    async expect(sessionId, keepMs) {
      const random = randomId();
      const requestId = prefix + random + (marks(random)[0] ?? '');
      await records.put(recordId(sessionId, requestId), { keepMs }, keepMs);
      return requestId;
    },
    isOwn(requestId): requestId is string {
      if (typeof requestId !== 'string' || !/^elicitgate-[\w-]{65}$/.test(requestId)) return false;
      const mark = Buffer.from(requestId.slice(-markLength));
      return marks(requestId.slice(prefix.length, -markLength)).some((own) => timingSafeEqual(Buffer.from(own), mark));
    },
    give: (sessionId, requestId, reply) => take(recordId(sessionId, requestId), sessionId, reply),
    async read(sessionId, requestId) {
      return (await records.get(recordId(sessionId, requestId)))?.value.reply;
    },
    watch: (sessionId, listener) => store.subscribe(channel(sessionId), listener),
    expectCancel: (sessionId, idText, keepMs) => records.put(cancelId(sessionId, idText), { keepMs }, keepMs),
    cancel: (sessionId, idText) => take(cancelId(sessionId, idText), sessionId, 'cancel'),
    async isCancelled(sessionId, idText) {
      return (await records.get(cancelId(sessionId, idText)))?.value.reply !== undefined;
    },
  };
}

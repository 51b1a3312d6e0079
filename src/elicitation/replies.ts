/**
 * What a client answers to a question that was put on its call's own stream. The answer comes by another
 * request, perhaps to another process, so it travels through the store; it belongs to the session that was
 * asked, and to a question that is open there.
 */
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
}

const prefix = 'elicitgate-';

/** Whether a response answers a request of ours, and so never goes upstream. */
export function isOwnRequestId(id: unknown): id is string {
  return typeof id === 'string' && /^elicitgate-[\w-]{43}$/.test(id);
}

export function createReplies(store: Store, ring: KeyRing, namespace: string): Replies {
  const records = createRecords<{ readonly reply?: Reply; readonly keepMs: number }>(store, ring, namespace, 'reply');
  const channel = (sessionId: string): string => `reply/${namespace}/${sessionId}`;
  const recordId = (sessionId: string, requestId: string) => ({ owner: [sessionId], item: [requestId] });
  return {
    async expect(sessionId, keepMs) {
      const requestId = prefix + randomId();
      await records.put(recordId(sessionId, requestId), { keepMs }, keepMs);
      return requestId;
    },
    async give(sessionId, requestId, reply) {
      const held = await records.get(recordId(sessionId, requestId));
      if (held === undefined || held.value.reply !== undefined) return;
      if (await records.replace(held, { ...held.value, reply }, held.value.keepMs)) await store.publish(channel(sessionId));
    },
    async read(sessionId, requestId) {
      return (await records.get(recordId(sessionId, requestId)))?.value.reply;
    },
    watch: (sessionId, listener) => store.subscribe(channel(sessionId), listener),
  };
}

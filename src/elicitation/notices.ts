/**
 * Notices: `notifications/elicitation/complete` on its way to exactly the session that was asked (MCP
 * 2025-11-25, client/elicitation). A notice waits in the store until that session has a stream open, on
 * whichever replica; it is taken once, so it is sent once.
 */
import type { Store } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';

export interface Notices {
  /** Leaves one notice and wakes the session's stream. */
  leave(sessionId: string, elicitationId: string): Promise<void>;
  /**
   * Hands every notice of a session to its stream, those that wait and those that come.
   * @param deliver gets one JSON-RPC notification as text; false when the stream could not take it
   * @param failed the store could not be read; the next notice tries again
   * @returns ends the delivery
   */
  attach(sessionId: string, deliver: (json: string) => boolean, failed: (error: unknown) => void): () => void;
  /** Whether a stream of this session is open in this process. */
  isListening(sessionId: string): boolean;
}

interface Notice {
  readonly elicitationId: string;
}

/** @param keepMs how long a notice waits for a stream */
export function createNotices(store: Store, ring: KeyRing, namespace: string, keepMs: number): Notices {
  const records = createRecords<Notice>(store, ring, namespace, 'notice');
  const listening = new Map<string, number>();
  const channel = (sessionId: string): string => `notice/${namespace}/${sessionId}`;
  const recordId = (sessionId: string, elicitationId: string) => ({ owner: [sessionId], item: [elicitationId] });

  /** @returns whether one was put back because the stream could not take it */
  async function deliverAll(sessionId: string, deliver: (json: string) => boolean): Promise<boolean> {
    let isPutBack = false;
    for (const held of await records.listOf([sessionId])) {
      const notice = await records.takeHeld(held);
      if (notice === undefined || deliver(completeNotification(notice.elicitationId))) continue;
      await records.put(recordId(sessionId, notice.elicitationId), notice, keepMs);
      isPutBack = true;
    }
    return isPutBack;
  }

  return {
    async leave(sessionId, elicitationId) {
      await records.put(recordId(sessionId, elicitationId), { elicitationId }, keepMs);
      await store.publish(channel(sessionId));
    },
    attach(sessionId, deliver, failed) {
      let isOver = false;
      let isPutBack = false;
      const run = (): void => {
        deliverAll(sessionId, (json) => !isOver && deliver(json))
          .then((isBack) => {
            isPutBack ||= isBack;
            return passOn();
          })
          .catch(failed);
      };
      // What this stream gave back may wait for one that has looked already; it is woken once this one is out of the way.
      const passOn = async (): Promise<void> => {
        if (!isOver || !isPutBack) return;
        isPutBack = false;
        await store.publish(channel(sessionId));
      };
      const unsubscribe = store.subscribe(channel(sessionId), run);
      listening.set(sessionId, (listening.get(sessionId) ?? 0) + 1);
      run();
      return () => {
        unsubscribe();
        isOver = true;
        passOn().catch(failed);
        const left = (listening.get(sessionId) ?? 1) - 1;
        if (left > 0) listening.set(sessionId, left);
        else listening.delete(sessionId);
      };
    },
    isListening: (sessionId) => listening.has(sessionId),
  };
}

function completeNotification(elicitationId: string): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } });
}

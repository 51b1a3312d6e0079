/**
 * Tasks (MCP 2025-11-25, basic/utilities/tasks): a call that is answered by a task goes on after its answer.
 * One that was started with a person's credential keeps it: `tasks/*` for it need what the call needed, and
 * belong to the person who started it. For everyone else the task does not exist, and nothing is forwarded.
 */
import type { Principal } from '../identity/principal.ts';
import { isSamePerson } from '../identity/principal.ts';
import { isObject, type JsonObject, type RpcMessage } from '../protocol/json-rpc.ts';
import type { Clock, Store } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';

export interface TaskRecord {
  readonly issuer: string;
  readonly subject: string;
  /** The questions whose credentials the call carried. */
  readonly questions: readonly string[];
}

export interface Tasks {
  /** Throws UnavailableError when it cannot be known. */
  find(upstream: string, taskId: string): Promise<TaskRecord | undefined>;
  /** @param ttlMs as the upstream said */
  keep(upstream: string, taskId: string, principal: Principal, questions: readonly string[], ttlMs: number | undefined): Promise<void>;
}

const methods: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']);

/** For tasks that the upstream keeps without an end, or longer. */
const longestMs = 30 * 24 * 3_600_000;
/** A poll that comes late still finds whose task it was. */
const graceMs = 3_600_000;

export function createTasks(store: Store, ring: KeyRing, namespace: string, now: Clock): Tasks {
  const records = createRecords<TaskRecord & { readonly since: number }>(store, ring, namespace, 'task');
  const recordId = (upstream: string, taskId: string) => ({ owner: ['task', upstream], item: [taskId] });
  return {
    find: async (upstream, taskId) => (await records.get(recordId(upstream, taskId)))?.value,
    async keep(upstream, taskId, { issuer, subject }, questions, ttlMs) {
      await records.put(recordId(upstream, taskId), { issuer, subject, questions, since: now() }, Math.min(longestMs, (ttlMs ?? longestMs) + graceMs));
    },
  };
}

/** The task that a message is about. */
export function taskOf(message: RpcMessage): string | undefined {
  if (message.kind !== 'request' || !methods.has(message.method)) return undefined;
  const { taskId } = message.params;
  return typeof taskId === 'string' ? taskId : undefined;
}

export function isAboutTask(method: string): boolean {
  return methods.has(method);
}

export function belongsTo({ issuer, subject }: TaskRecord, principal: Principal): boolean {
  return isSamePerson({ issuer, subject, name: '' }, principal);
}

/** The task with which a call was answered, instead of with its result. */
export function startedTask({ result }: JsonObject): { readonly taskId: string; readonly ttlMs: number | undefined } | undefined {
  if (!isObject(result)) return undefined;
  const task = isObject(result['task']) ? result['task'] : result['resultType'] === 'task' ? result : {};
  const { taskId, ttl, ttlMs } = task;
  const lifeMs = [ttl, ttlMs].find((life) => typeof life === 'number');
  return typeof taskId === 'string' ? { taskId, ttlMs: lifeMs } : undefined;
}

/** Where tasks meet the path of a request: whose task is asked for, which task an answer starts, and which tasks a list may show. */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { mapItems, memberText, setMember } from '../protocol/json-edit.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { EventSplitter, mapData } from '../protocol/sse.ts';
import type { Call, Step } from './call.ts';
import type { Gateway } from './gateway.ts';
import { questionName } from './protected-upstream.ts';
import type { RelayPlan } from './relay.ts';
import { collect, maxHeldBytes, OversizedAnswer, type Sink } from './sinks.ts';
import { belongsTo, startedTask, taskOf } from './tasks.ts';
import { messageIn } from './upstream-messages.ts';

/** What `tasks/*` need is what the call needed that started the task. */
export function ownTask(gateway: Gateway): Step {
  return (call) => {
    const taskId = call.upstream.credentials.length === 0 ? undefined : taskOf(call.message);
    return taskId === undefined ? undefined : claim(gateway, call, taskId);
  };
}

async function claim(gateway: Gateway, call: Call, taskId: string): Promise<Awaited<ReturnType<Step>>> {
  try {
    const task = await gateway.tasks.find(call.upstream.config.name, taskId);
    if (task === undefined) return undefined;
    if (!belongsTo(task, call.principal)) return call.refuse('unknown-task');
    call.required = call.upstream.requirements.filter((requirement) => task.questions.includes(questionName(requirement)));
    return call.isSessionUncertain ? call.refuse('unavailable') : undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a task cannot be looked up');
    return call.refuse('unavailable');
  }
}

/** Looks into answers that start a task with somebody's credential, and into lists of tasks. */
export function watchTasks(gateway: Gateway, call: Call, plan: RelayPlan): RelayPlan {
  const { message, upstream } = call;
  if (message.kind !== 'request' || upstream.credentials.length === 0) return plan;
  if (message.method === 'tasks/list') return looking(plan, (text) => withoutForeign(gateway, call, text));
  const mayStart = call.held.length > 0 && call.target !== undefined;
  return mayStart ? looking(plan, (text) => keepStarted(gateway, call, text)) : plan;
}

/** The same for the events of a stream that no request of this process began; `next` gets them whole and in their order. */
export function watchStreamedTasks(gateway: Gateway, call: Call, next: Sink): Sink {
  if (call.upstream.credentials.length === 0) return next;
  return lookIntoEvents(async (text) => {
    await keepHeardOf(gateway, call, text);
    return withoutForeign(gateway, call, text);
  }, next);
}

/** Which call started it is not known here, but whose stream this is; what is known already stays. */
async function keepHeardOf(gateway: Gateway, { principal, upstream }: Call, text: string): Promise<void> {
  const message = messageIn(text);
  const task = message === undefined ? undefined : startedTask(message);
  if (task === undefined || (await gateway.tasks.find(upstream.config.name, task.taskId)) !== undefined) return;
  await gateway.tasks.keep(upstream.config.name, task.taskId, principal, [], task.ttlMs);
}

/** The record is there before the client hears of the task. */
async function keepStarted(gateway: Gateway, { principal, required, upstream }: Call, text: string): Promise<string> {
  const message = messageIn(text);
  const task = message === undefined ? undefined : startedTask(message);
  if (task !== undefined) await gateway.tasks.keep(upstream.config.name, task.taskId, principal, required.map(questionName), task.ttlMs);
  return text;
}

async function withoutForeign(gateway: Gateway, { principal, upstream }: Call, text: string): Promise<string> {
  const list = memberText(text, ['result', 'tasks']);
  if (list === undefined) return text;
  const items: string[] = [];
  mapItems(list, (item) => {
    items.push(item);
    return item;
  });
  const kept = await Promise.all(items.map(async (item) => {
    const taskId: unknown = messageIn(item)?.['taskId'];
    const task = typeof taskId === 'string' ? await gateway.tasks.find(upstream.config.name, taskId) : undefined;
    return task === undefined || belongsTo(task, principal) ? [item] : [];
  }));
  if (kept.every((one) => one.length === 1)) return text;
  const changed = setMember(text, ['result', 'tasks'], `[${kept.flat().join(',')}]`);
  return changed.ok ? changed.value : text;
}

type Look = (text: string) => Promise<string>;
const mark = '"taskId"';

function looking(plan: RelayPlan, look: Look): RelayPlan {
  return {
    ...plan,
    choose(head) {
      if (head.status >= 300 || head.media === 'other') return plan.choose(head);
      const next = plan.choose({ ...head, length: undefined });
      return head.media === 'json' ? lookIntoWhole(look, next) : lookIntoEvents(look, next);
    },
  };
}

function lookIntoWhole(look: Look, next: Sink): Sink {
  const pass = (body: Buffer): void => {
    next.data(body);
    next.end();
  };
  const failed = (): void => { next.fail('unavailable'); };
  return collect(
    maxHeldBytes,
    (body) => {
      const text = body.includes(mark) ? body.toString() : '';
      if (text === '' || messageIn(text) === undefined) pass(body);
      else look(text).then((changed) => { pass(changed === text ? body : Buffer.from(changed)); }).catch(failed);
    },
    (reason) => { next.fail(reason); },
  );
}

/** One run of events after the other, so that none overtakes one that waits for the store. */
function lookIntoEvents(look: Look, next: Sink): Sink {
  const splitter = new EventSplitter();
  let waiting: Promise<void> | undefined;
  let isFailed = false;
  const inTurn = (step: () => void | Promise<void>): void => {
    waiting = (waiting ?? Promise.resolve()).then(() => (isFailed ? undefined : step())).catch(() => {
      isFailed = true;
      next.fail('unavailable');
    });
  };
  const afterwards = (step: () => void): void => {
    if (waiting === undefined) step();
    else inTurn(step);
  };
  return {
    data(chunk) {
      const events = splitter.push(chunk);
      if (splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
      if (events === undefined) return true;
      if (waiting === undefined && !events.includes(mark)) return next.data(events);
      inTurn(async () => { next.data(events.includes(mark) ? await changedEvents(look, events) : events); });
      return true;
    },
    end() {
      const rest = splitter.rest();
      afterwards(() => {
        if (rest.length > 0) next.data(rest);
        next.end();
      });
    },
    fail(reason) {
      afterwards(() => { next.fail(reason); });
    },
  };
}

async function changedEvents(look: Look, events: Buffer): Promise<Buffer> {
  const texts: string[] = [];
  mapData(events.toString(), (text) => {
    texts.push(text);
    return text;
  });
  const changed = new Map(await Promise.all(texts.map(async (text) => [text, isObject(messageIn(text)) ? await look(text) : text] as const)));
  return Buffer.from(mapData(events.toString(), (text) => changed.get(text) ?? text));
}

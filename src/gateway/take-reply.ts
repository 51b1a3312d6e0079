/**
 * The step that hears what a client says to a call that waits: its answer to a question of ours, which never
 * reaches the upstream, and that it no longer wants the call.
 */
import type { Reply } from '../elicitation/replies.ts';
import { UnavailableError } from '../errors.ts';
import { memberText } from '../protocol/json-edit.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import type { Session } from './sessions.ts';
import { messageIn } from './upstream-messages.ts';

export function takeReply(gateway: Gateway): Step {
  return (call) => {
    const { message, session } = call;
    if (session === undefined) return undefined;
    if (message.kind === 'response') return takeResponse(gateway, call, session);
    const isCancel = message.kind === 'notification' && message.method === 'notifications/cancelled';
    const cancelled = isCancel ? memberText(call.body.toString(), ['params', 'requestId']) : undefined;
    return cancelled === undefined ? undefined : orRefuse(call, gateway.replies.cancel(session.id, cancelled), undefined);
  };
}

function takeResponse(gateway: Gateway, call: Call, session: Session): StepResult | Promise<StepResult> {
  const response = messageIn(call.body.toString());
  const id = response?.['id'];
  if (response === undefined || !gateway.replies.isOwn(id)) return undefined;
  return orRefuse(call, gateway.replies.give(session.id, id, replyIn(response)), { status: 202 });
}

async function orRefuse(call: Call, done: Promise<void>, answer: StepResult): Promise<StepResult> {
  try {
    await done;
    return answer;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return call.refuse('unavailable');
  }
}

function replyIn({ result }: JsonObject): Reply {
  const action = isObject(result) ? result['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? action : 'failed';
}

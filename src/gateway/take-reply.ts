/** The step that takes what a client answers to a question of ours. It never reaches the upstream. */
import { isOwnRequestId, type Reply } from '../elicitation/replies.ts';
import { UnavailableError } from '../errors.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import { messageIn } from './upstream-messages.ts';

export function takeReply(gateway: Gateway): Step {
  return (call) => {
    if (call.message.kind !== 'response') return undefined;
    const response = messageIn(call.body.toString());
    const id = response?.['id'];
    return response !== undefined && isOwnRequestId(id) ? take(gateway, call, id, replyIn(response)) : undefined;
  };
}

async function take(gateway: Gateway, call: Call, id: string, reply: Reply): Promise<StepResult> {
  try {
    if (call.session !== undefined) await gateway.replies.give(call.session.id, id, reply);
    return { status: 202 };
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return call.refuse('unavailable');
  }
}

function replyIn({ result }: JsonObject): Reply {
  const action = isObject(result) ? result['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? action : 'failed';
}

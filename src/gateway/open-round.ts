/**
 * The step that reads which questions of ours a modern request answers (2026-07-28, basic/patterns/mrtr).
 * Where a rule protects the request its state is always ours: one that does not open is refused, one whose
 * time is over counts as none. What is ours never goes upstream; the upstream's own state is put back. A
 * person who said no ends the call.
 */
import { deleteMember, memberText, setMember, type MemberPath } from '../protocol/json-edit.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { Call, Step } from './call.ts';
import { declinedAnswer } from './declined.ts';
import type { Gateway } from './gateway.ts';
import type { Round } from './round.ts';

const statePath: MemberPath = ['params', 'requestState'];
const responsesPath: MemberPath = ['params', 'inputResponses'];

export function openRound(gateway: Gateway): Step {
  return (call) => {
    const { message, era, required, idText } = call;
    if (era !== 'modern' || required.length === 0 || message.kind !== 'request') return undefined;
    const { requestState: state, inputResponses: responses } = message.params;
    if (state === undefined) return undefined;
    const opened = typeof state === 'string' ? gateway.rounds.open(call, state) : undefined;
    if (opened?.ok !== true) return call.refuse('invalid-state');
    const { isExpired, ...round } = opened.value;
    if (isExpired) {
      call.body = Buffer.from(deleteMember(deleteMember(call.body.toString(), statePath), responsesPath));
      return undefined;
    }
    const answers = isObject(responses) ? responses : {};
    const said = round.asked.filter((key) => Object.hasOwn(answers, key)).map((key) => actionOf(answers[key]));
    if (idText !== undefined && said.some((action) => action === 'decline' || action === 'cancel')) return declinedAnswer(gateway, call, round.asked, idText);
    call.round = { ...round, isAccepted: said.includes('accept') };
    call.body = withoutOurs(call, round);
    return undefined;
  };
}

function actionOf(answer: unknown): unknown {
  return isObject(answer) ? answer['action'] : undefined;
}

function withoutOurs({ body }: Call, { asked, upstreamState }: Round): Buffer {
  let text = deleteMember(body.toString(), statePath);
  for (const key of asked) text = deleteMember(text, [...responsesPath, key]);
  if (asked.length > 0 && /^\{\s*\}$/.test(memberText(text, responsesPath) ?? '')) text = deleteMember(text, responsesPath);
  const changed = upstreamState === undefined ? undefined : setMember(text, statePath, JSON.stringify(upstreamState));
  return Buffer.from(changed?.ok === true ? changed.value : text);
}

/** The step that asks for what is missing, and that holds a call which is to wait for it. */
import type { Call, Step, StepResult } from './call.ts';
import { ask, type Elicit } from './ask.ts';
import type { Gateway } from './gateway.ts';
import { holdCall, holdRetry } from './hold.ts';

export function elicit(gateway: Gateway): Step {
  return (call) => {
    const { decision, idText } = call;
    if (decision.kind !== 'elicit') return undefined;
    if (idText === undefined) return call.refuse('credential-required');
    if (call.era === 'modern') return elicitModern(gateway, call, decision, idText);
    return decision.rung === 'url-request' ? holdCall(gateway, call, decision, idText) : ask(gateway, call, decision, idText);
  };
}

/** An upstream of the legacy era has no modern questions: its client is to open a session with it. */
async function elicitModern(gateway: Gateway, call: Call, decision: Elicit, idText: string): Promise<StepResult> {
  const { era } = await gateway.eras.of(call.upstream);
  if (era === 'legacy') return call.refuse('unsupported-era');
  return call.round?.isAccepted === true && decision.rung === 'input-required' ? holdRetry(gateway, call, decision, idText) : ask(gateway, call, decision, idText);
}

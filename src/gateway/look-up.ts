/** The middle steps: which session, what the rules ask for, what the person has of it, and so what happens. */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { mayServe } from '../vault/secrets.ts';
import { acceptsEvents } from './accepts.ts';
import type { Call, Step, StepResult } from './call.ts';
import { choose, decide as decideCall, type Decision, type HeldCredential } from './decide.ts';
import type { Gateway } from './gateway.ts';
import { matchRules } from './match.ts';
import { secretSlot, type RequiredCredential } from './protected-upstream.ts';
import type { PersonScrubber } from './scrubbers.ts';

export function openSession(gateway: Gateway): Step {
  return (call) => {
    const token = call.raw.headers['mcp-session-id'];
    // The modern era has no sessions, and ignores the header (2026-07-28, basic/transports).
    if (token === undefined || call.era === 'modern') return undefined;
    const session = typeof token === 'string' ? gateway.sessions.read(token, call.principal, call.upstream.config.name) : undefined;
    if (session === undefined) return call.refuse('unknown-session');
    call.session = session;
    const isEnded = gateway.sessions.isEnded(session);
    if (typeof isEnded === 'boolean') return isEnded ? call.refuse('unknown-session') : undefined;
    return waitForState(call, isEnded);
  };
}

async function waitForState(call: Call, isEnded: Promise<boolean>): Promise<StepResult> {
  try {
    return (await isEnded) ? call.refuse('unknown-session') : undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    call.isSessionUncertain = true;
    return undefined;
  }
}

export function match(call: Call): ReturnType<Step> {
  call.required = matchRules(call.upstream.rules, call.message, call.principal.claims);
  return call.isSessionUncertain && call.required.length > 0 ? call.refuse('unavailable') : undefined;
}

/** With `attach: always` everything that the person has goes along; otherwise what the rules ask for. */
export function lookUp(gateway: Gateway): Step {
  return (call) => {
    const { principal, upstream } = call;
    if (upstream.credentials.length === 0) return undefined;
    const scrubber = gateway.scrubbers.of(principal, upstream.config.name);
    call.scrubber = scrubber;
    const wanted = upstream.config.attach === 'always' ? upstream.credentials : [...new Set(call.required.flatMap(({ anyOf }) => anyOf))];
    const cached = scrubber.isLoaded ? cachedAll(gateway, call, wanted) : undefined;
    if (cached === undefined) return lookUpInStore(gateway, call, wanted, scrubber);
    call.held = goingAlong(call, cached);
    scrubber.add(cached);
    return undefined;
  };
}

function goingAlong({ required, upstream }: Call, found: readonly HeldCredential[]): readonly HeldCredential[] {
  return upstream.config.attach === 'always' ? found : choose(required, found);
}

async function lookUpInStore(gateway: Gateway, call: Call, wanted: readonly RequiredCredential[], scrubber: PersonScrubber): Promise<StepResult> {
  try {
    if (wanted.length > 0) call.held = goingAlong(call, await findAll(gateway, call, wanted));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'secrets cannot be looked up');
    return call.refuse('unavailable');
  }
  if (!scrubber.isLoaded) await loadInto(scrubber, gateway, call);
  scrubber.add(call.held);
  return undefined;
}

/**
 * What may have been sent before this process began is scrubbed too, whoever of her clients sent it and
 * whether or not it may still be used. When that cannot be read, only what this process sent is known,
 * and the next request tries again.
 */
async function loadInto(scrubber: PersonScrubber, gateway: Gateway, { principal, upstream }: Call): Promise<void> {
  try {
    const stored = await Promise.all(upstream.credentials.map(async (credential) => ({ credential, secret: await gateway.vault.inspect(secretSlot(principal, credential)) })));
    scrubber.add(stored.flatMap(({ credential, secret }) => (secret === undefined ? [] : [{ credential, secret }])));
    scrubber.isLoaded = true;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
  }
}

export function decide(gateway: Gateway): Step {
  return (call) => {
    call.decision = decideWith(gateway, call, call.held);
    return undefined;
  };
}

/** What is to happen to a call of a person who has this of what it needs. */
export function decideWith(gateway: Gateway, call: Call, held: readonly HeldCredential[], required = call.required): Decision {
  const { upstream, era, client } = call;
  const mayHold = (upstream.config.delivery ?? gateway.delivery) === 'hold' && acceptsEvents(call.raw.headers.accept);
  return decideCall(required, held, { era, takesUrls: client.takesUrls && (era === 'legacy' || takesRounds(call)), mayHold, fallback: upstream.config.fallback ?? gateway.fallback });
}

/** Other requests are never answered with a request for input (2026-07-28, basic/patterns/mrtr, "Supported Requests"). */
function takesRounds({ message }: Call): boolean {
  return message.kind === 'request' && ['tools/call', 'resources/read', 'prompts/get'].includes(message.method);
}

/** All from memory, or nothing: an ordinary call touches no disk. */
function cachedAll(gateway: Gateway, call: Call, wanted: readonly RequiredCredential[]): HeldCredential[] | undefined {
  const held: HeldCredential[] = [];
  for (const credential of wanted) {
    const secret = gateway.vault.cached(secretSlot(call.principal, credential), credential.config.shape, credential.destination);
    if (secret === undefined || !mayServe(secret, call.principal.clientId)) return undefined;
    held.push({ credential, secret });
  }
  return held;
}

async function findAll(gateway: Gateway, call: Call, wanted: readonly RequiredCredential[]): Promise<HeldCredential[]> {
  const found = await Promise.all(
    wanted.map(async (credential) => {
      const secret = await gateway.vault.find(secretSlot(call.principal, credential), credential.config.shape, credential.destination);
      return secret === undefined || !mayServe(secret, call.principal.clientId) ? [] : [{ credential, secret }];
    }),
  );
  return found.flat();
}

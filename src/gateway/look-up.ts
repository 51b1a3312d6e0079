/** The middle steps: which session, what the rules ask for, what the person has of it, and so what happens. */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import type { Call, Step } from './call.ts';
import { decide as decideCall, type HeldCredential } from './decide.ts';
import type { Gateway } from './gateway.ts';
import { matchRules } from './match.ts';
import type { RequiredCredential } from './protected-upstream.ts';

export function openSession(gateway: Gateway): Step {
  return async (call) => {
    const token = call.raw.headers['mcp-session-id'];
    if (token === undefined) return undefined;
    const session = typeof token === 'string' ? gateway.sessions.read(token, call.principal, call.upstream.config.name) : undefined;
    if (session === undefined) return call.refuse('unknown-session');
    call.session = session;
    try {
      const ended = gateway.sessions.isEnded(session);
      return (typeof ended === 'boolean' ? ended : await ended) ? call.refuse('unknown-session') : undefined;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      call.isSessionUncertain = true;
      return undefined;
    }
  };
}

export function match(call: Call): ReturnType<Step> {
  call.required = matchRules(call.upstream.rules, call.message);
  return call.isSessionUncertain && call.required.length > 0 ? call.refuse('unavailable') : undefined;
}

/** With `attach: always` everything that the person has goes along; otherwise what the rules ask for. */
export function lookUp(gateway: Gateway): Step {
  return async (call) => {
    const wanted = call.upstream.config.attach === 'always' ? call.upstream.credentials : call.required;
    try {
      if (wanted.length > 0) call.held = cachedAll(gateway, call, wanted) ?? (await findAll(gateway, call, wanted));
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'secrets cannot be looked up');
      return call.refuse('unavailable');
    }
    call.scrubber = await scrubberFor(gateway, call);
    return undefined;
  };
}

export function decide(gateway: Gateway): Step {
  return (call) => {
    const { fallback } = call.upstream.config;
    call.decision = decideCall(call.required, call.held, call.session?.takesUrls ?? false, fallback ?? gateway.fallback);
    return undefined;
  };
}

/** All from memory, or nothing: an ordinary call touches no disk. */
function cachedAll(gateway: Gateway, call: Call, wanted: readonly RequiredCredential[]): HeldCredential[] | undefined {
  const held: HeldCredential[] = [];
  for (const credential of wanted) {
    const secret = gateway.vault.cached(slotOf(call, credential), credential.config.shape, credential.destination);
    if (secret === undefined) return undefined;
    held.push({ credential, secret });
  }
  return held;
}

async function findAll(gateway: Gateway, call: Call, wanted: readonly RequiredCredential[]): Promise<HeldCredential[]> {
  const found = await Promise.all(
    wanted.map(async (credential) => {
      const secret = await gateway.vault.find(slotOf(call, credential), credential.config.shape, credential.destination);
      return secret === undefined ? [] : [{ credential, secret }];
    }),
  );
  return found.flat();
}

/**
 * What may have been sent before this process began is scrubbed too: the first request of a person reads
 * once what she has. When that cannot be read, only what this process sent is known.
 */
async function scrubberFor(gateway: Gateway, call: Call) {
  const { principal, upstream } = call;
  const { name } = upstream.config;
  if (call.held.length > 0) return gateway.scrubbers.remember(principal, name, call.held);
  if (upstream.credentials.length === 0 || gateway.scrubbers.knows(principal, name)) return gateway.scrubbers.current(principal, name);
  try {
    return gateway.scrubbers.remember(principal, name, await findAll(gateway, call, upstream.credentials));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return gateway.scrubbers.current(principal, name);
  }
}

function slotOf(call: Call, credential: RequiredCredential) {
  const { issuer, subject } = call.principal;
  return { issuer, subject, credential: credential.config.name, ...(credential.place === undefined ? {} : { upstream: credential.place }) };
}

/** What ends a session of ours from the upstream's side: it answered that it does not know it any more. */
import { describeError } from '../operate/log.ts';
import type { Gateway } from './gateway.ts';
import type { Session } from './sessions.ts';

/** Ends the session here; that the store could not note it stops nobody. */
export function forgetSession(gateway: Gateway, upstream: string, session: Session): void {
  gateway.sessions.end(session).catch((error: unknown) => {
    gateway.log.warn({ upstream, reason: describeError(error) }, 'the end of a session could not be stored');
  });
}

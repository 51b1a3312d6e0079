/** How long a store on the network is waited for: a call that needs it is refused within two seconds. */
import { UnavailableError } from '../errors.ts';

/** For one move, connecting included. */
export const patienceMs = 1_500;

/** @throws UnavailableError when the work is not done in time; the work itself may still be, so a write may have happened */
export async function within<T>(work: Promise<T>, store: string): Promise<T> {
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => { tooLate.reject(new UnavailableError(`${store} did not answer in time`)); }, patienceMs);
  try {
    return await Promise.race([work, tooLate.promise]);
  } finally {
    clearTimeout(timer);
    // Whoever was too late is heard by nobody.
    work.catch(() => undefined);
  }
}

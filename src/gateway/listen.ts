/**
 * `subscriptions/listen` (2026-07-28, basic/patterns/subscriptions): an answer that stays open for as long
 * as its client listens and her access token is taken. Silence is no failure there.
 */
import type { Call } from './call.ts';
import type { ClientStream } from './client-stream.ts';
import type { Gateway } from './gateway.ts';

export function isListening({ era, message }: Call): boolean {
  return era === 'modern' && message.kind === 'request' && message.method === 'subscriptions/listen';
}

/** Ends the stream with the token that opened it, and with the process. */
export function endWithToken(gateway: Gateway, call: Call, stream: ClientStream): void {
  const open = { end: () => { stream.end(); } };
  gateway.streams.all.add(open);
  const stop = gateway.heartbeat.add(() => {
    if ((call.principal.expiresAt ?? Infinity) <= gateway.now()) stream.end();
  });
  call.reply.once('close', () => {
    stop();
    gateway.streams.all.delete(open);
  });
}

/**
 * Loaded into the proxy's process (`node --expose-gc --import …`): answers each IPC message with what the
 * process holds after a garbage collection. It never keeps the process alive, and ends it with the soak, however
 * that ends.
 */
import { queryObjects } from 'node:v8';
import { Call } from '../../src/gateway/call.ts';
import { ClientStream } from '../../src/gateway/client-stream.ts';

export interface Held {
  /** Bytes. */
  readonly rss: number;
  readonly heapUsed: number;
  readonly sockets: number;
  readonly timers: number;
  /** Requests and client streams that something still refers to; relays and server streams hold their call. */
  readonly calls: number;
  readonly streams: number;
}

process.on('message', () => {
  const [calls, streams] = [Call, ClientStream].map((kind) => queryObjects(kind, { format: 'count' }));
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const active = process.getActiveResourcesInfo();
  const count = (name: string): number => active.filter((one) => one === name).length;
  process.send?.({ rss, heapUsed, sockets: count('TCPSocketWrap'), timers: count('Timeout'), calls, streams });
});
process.on('disconnect', () => process.exit());
process.channel?.unref();

/** A small load balancer as stands in front of replicas: each request goes to the next one, and to another when nobody listens there. */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  readonly origin: string;
  /** All requests go there from now on; undefined: each to the next. */
  readonly sendTo: (index: number | undefined) => void;
  /** Takes one out of rotation, as a balancer does with what is no longer ready, or back in. Requests that it has already go on. */
  readonly rotate: (index: number, isIn: boolean) => void;
  readonly setTargets: (origins: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let targets: readonly string[] = [];
  let only: number | undefined;
  const out = new Set<number>();
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    void readAll(incoming).then((body) => { forward(incoming, body, outgoing, targets.length); });
  });
  function next(): number {
    do count += 1; while (out.has(count % targets.length) && out.size < targets.length);
    return count % targets.length;
  }
  function forward(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, attemptsLeft: number): void {
    const target = targets[only ?? next()];
    const passing = httpRequest(`${target}${incoming.url}`, { method: incoming.method, headers: incoming.headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    passing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && attemptsLeft > 1) forward(incoming, body, outgoing, attemptsLeft - 1);
      else outgoing.destroy();
    });
    outgoing.on('close', () => passing.destroy());
    passing.end(body);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sendTo: (index) => { only = index; },
    rotate: (index, isIn) => { if (isIn) out.delete(index); else out.add(index); },
    setTargets: (origins) => { targets = origins; },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

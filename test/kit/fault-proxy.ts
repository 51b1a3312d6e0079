/** A TCP proxy in front of a database, whose faults the test chooses. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** passes; nobody listens; what comes is swallowed, also on open connections; connections are reset as soon as something comes. */
export type Fault = 'none' | 'down' | 'hang' | 'reset';

export interface FaultProxy {
  readonly port: number;
  readonly set: (fault: Fault) => Promise<void>;
  /** Breaks off every open connection. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
}

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  let fault: Fault = 'none';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [[client, target], [target, client]] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (fault === 'reset') client.resetAndDestroy();
        else if (fault !== 'hang') to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cut,
    async set(next) {
      const wasDown = fault === 'down';
      fault = next;
      if (next === 'down' && !wasDown) {
        server.close();
        cut();
      } else if (wasDown && next !== 'down') {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      }
    },
    async close() {
      if (server.listening) server.close();
      cut();
    },
  };
}

/** The admin listener: whether the process lives and whether it can serve. Never on the public listener. */
import fastify, { type FastifyInstance } from 'fastify';
import type { Store } from '../stores/store.ts';

/**
 * @param isClosing not ready any more, so that no new traffic comes
 * @returns a server that does not listen yet: `/healthz`, `/readyz`
 */
export function createHealthServer(store: Store, isClosing: () => boolean): FastifyInstance {
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (isClosing()) return reply.code(503).send({ status: 'closing' });
    try {
      await store.ping();
    } catch {
      return reply.code(503).send({ status: 'the store cannot be read and written' });
    }
    return { status: 'ok' };
  });
  return server;
}

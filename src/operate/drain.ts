/**
 * An orderly end of the public listener: nobody new comes in, answers that are under way may finish, and
 * then every connection is closed. Connections that carry no answer are waited for by nobody, so a browser
 * that opened one in advance, or a sender who never finishes, holds up no stop.
 */
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { Server } from 'node:net';

/**
 * @param server before its routes are registered
 * @returns ends it; answers that are not over after `withinMs` are cut
 */
export function createDrain(server: FastifyInstance): (withinMs: number) => Promise<void> {
  const open = new Set<ServerResponse>();
  const allOver = Promise.withResolvers<void>();
  let isClosing = false;

  server.addHook('onRequest', (request, { raw: reply }, done) => {
    open.add(reply);
    if (isClosing) reply.setHeader('connection', 'close');
    reply.once('close', () => {
      open.delete(reply);
      if (!isClosing) return;
      request.raw.socket.end();
      if (open.size === 0) allOver.resolve();
    });
    done();
  });

  return async (withinMs) => {
    isClosing = true;
    // http.Server's own `close` would also cut answers that have been written and are still on their way.
    Server.prototype.close.call(server.server);
    for (const reply of open) if (!reply.headersSent) reply.setHeader('connection', 'close');
    if (open.size === 0) allOver.resolve();
    const tooLate = setTimeout(allOver.resolve, withinMs);
    await allOver.promise;
    clearTimeout(tooLate);
    for (const reply of open) reply.destroy();
    server.server.closeAllConnections();
    await server.close();
  };
}

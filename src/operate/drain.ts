/**
 * An orderly end of the public listener: nobody new comes in, answers that are under way may finish, and
 * then every connection is closed. Connections that carry no answer are waited for by nobody, so a browser
 * that opened one in advance, or a sender who never finishes, holds up no stop.
 * Before that a balancer has time to see that the process is not ready any more, and sends others elsewhere.
 */
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The part of a stop in which everything is still served.
 *
 * @param lastsMs from `begin` until that resolves; 0: at once
 */
export function createUnready(lastsMs: number): { readonly begin: () => Promise<void>; readonly isClosing: () => boolean } {
  let hasBegun = false;
  return {
    isClosing: () => hasBegun,
    async begin() {
      hasBegun = true;
      if (lastsMs > 0) await pause(lastsMs);
    },
  };
}

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

/** How often one person may call or submit, and one address open pages; counted in this process. */
import type {} from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** @returns seconds to wait when there were too many */
export type Count = (request: FastifyRequest, key: string) => Promise<number | undefined>;

/** @param server with @fastify/rate-limit registered */
export function createCount(server: FastifyInstance, rate: Rate): Count {
  const keys = new WeakMap<FastifyRequest, string>();
  const check = server.createRateLimit({ max: rate.count, timeWindow: rate.perMs, keyGenerator: (request) => keys.get(request) ?? request.ip });
  return async (request, key) => {
    keys.set(request, key);
    const outcome = await check(request);
    return !outcome.isAllowed && outcome.isExceeded ? Math.max(1, outcome.ttlInSeconds) : undefined;
  };
}

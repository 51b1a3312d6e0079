/**
 * The composition root: from the configuration to the adapters, to the stations, to a server that does
 * not listen yet. The only place that names concrete adapters.
 */
import formbody from '@fastify/formbody';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { DestinationStream } from 'pino';
import type { Config, HttpUpstream } from './config/config.ts';
import { createAsk } from './elicitation/ask.ts';
import { createInteractions, type Interactions, type Ticket } from './elicitation/interactions.ts';
import { createNotices, type Notices } from './elicitation/notices.ts';
import { err, ok, type Result } from './errors.ts';
import type { Gateway } from './gateway/gateway.ts';
import { createHeartbeat } from './gateway/heartbeat.ts';
import { protectUpstream, type ProtectedUpstream } from './gateway/protected-upstream.ts';
import { registerGateway } from './gateway/routes.ts';
import { createScrubbers } from './gateway/scrubbers.ts';
import { createServerStreams } from './gateway/server-stream.ts';
import { createSessions } from './gateway/sessions.ts';
import { createAddressGuard } from './identity/addressed.ts';
import { createLocalIdentity } from './identity/local.ts';
import { openAudit } from './operate/audit.ts';
import { createHealthServer } from './operate/health.ts';
import { createCount } from './operate/limits.ts';
import { createLog, describeError, type Log } from './operate/log.ts';
import { createFrame } from './pages/frame.ts';
import { registerPages, stylePath } from './pages/routes.ts';
import { styleSheet } from './pages/style-sheet.ts';
import type { Pages } from './pages/visit.ts';
import { createMemoryStore } from './stores/memory.ts';
import { openSqliteStore } from './stores/sqlite.ts';
import type { Clock, Store } from './stores/store.ts';
import { createStreamableHttpUpstream } from './upstreams/streamable-http.ts';
import { checkCanary } from './vault/canary.ts';
import { createKeyRing, type KeyRing } from './vault/key-ring.ts';
import { createVault, type Vault } from './vault/secrets.ts';

/** What the process lends: nothing below this reads the environment, the clock or a stream by itself. */
export interface Edge {
  /** Writes audit lines to standard output; throws when it cannot. */
  readonly stdout: (text: string) => void;
  readonly logTo: DestinationStream;
  readonly now: Clock;
}

export interface App {
  readonly log: Log;
  listen(): Promise<void>;
  /** Ends idle streams at once, lets open calls finish within `server.drain`, then closes everything. */
  close(): Promise<void>;
}

/** What several stations work with. */
interface Foundation {
  readonly config: Config;
  readonly store: Store;
  readonly ring: KeyRing;
  readonly vault: Vault;
  readonly interactions: Interactions;
  readonly notices: Notices;
  readonly log: Log;
  readonly now: Clock;
}

const closingPollMs = 50;

/** @returns the server, or one sentence that says why it must not start */
export async function createApp(config: Config, edge: Edge): Promise<Result<App, string>> {
  const log = createLog(config.log, edge.logTo);
  const opened = openStore(config, edge.now);
  if (!opened.ok) return opened;
  const store = opened.value;
  const ring = createKeyRing(config.vault.keys);
  const fault = await checkKeys(store, ring, config);
  if (fault !== undefined) {
    await store.close();
    return err(fault);
  }
  const { namespace } = config.vault;
  const { expiresAfter } = config.elicitation;
  const foundation: Foundation = {
    config,
    store,
    ring,
    vault: createVault(store, ring, namespace, { cacheForMs: config.vault.cacheFor, deleteUnusedAfterMs: config.vault.deleteUnusedAfter }, edge.now),
    interactions: createInteractions(store, ring, namespace, { expiresAfterMs: expiresAfter, openInteractions: config.limits.perUser.openInteractions }, edge.now),
    notices: createNotices(store, ring, namespace, expiresAfter),
    log,
    now: edge.now,
  };
  return ok(await assemble(foundation, edge));
}

async function assemble(foundation: Foundation, edge: Edge): Promise<App> {
  const { config, store, log, now } = foundation;
  const audit = openAudit(config.audit, edge.stdout, now, (error) => {
    log.error({ reason: describeError(error) }, 'an audit line could not be written');
  });
  const server = createServer(config);
  await server.register(rateLimit, { global: false });
  const upstreams = new Map(httpUpstreams(config).map((upstream) => [upstream.name, protectUpstream(config, upstream, createStreamableHttpUpstream(upstream.url, upstream.timeout))]));
  const gateway = createGateway(foundation, server, audit);
  const pages = createPages(foundation, server, audit, upstreams);
  const css = styleSheet(config.pages.accent);
  await server.register((child) => {
    registerGateway(child, gateway, gatewayPaths(config, upstreams), config.server.maxBody);
    return Promise.resolve();
  });
  await server.register(async (child) => {
    await child.register(formbody);
    registerPages(child, pages, pagePrefixes(config), css, config.server.publicUrl.protocol === 'https:');
  });

  let isClosing = false;
  const { admin } = config.server;
  const health = admin === false ? undefined : createHealthServer(store, () => isClosing);
  return {
    log,
    async listen() {
      await server.listen(config.server.listen);
      if (admin !== false) await health?.listen(admin);
      log.info({ listen: config.server.listen, publicUrl: config.server.publicUrl.href, upstreams: [...upstreams.keys()] }, 'serving');
    },
    async close() {
      isClosing = true;
      gateway.streams.endAll();
      await drain(server, config.server.drain);
      gateway.heartbeat.close();
      await Promise.all([...upstreams.values()].map((upstream) => upstream.adapter.close()));
      await health?.close();
      await store.close();
      audit.close();
      log.info({}, 'closed');
    },
  };
}

function openStore(config: Config, now: Clock): Result<Store, string> {
  const { store, namespace } = config.vault;
  switch (store.kind) {
    case 'memory':
      return ok(createMemoryStore(now));
    case 'sqlite':
      try {
        return ok(openSqliteStore(store.path, namespace, now));
      } catch (error) {
        return err(`The database ${store.path} cannot be opened (${describeError(error)}). Check that its folder can be written and that the file is an SQLite database.`);
      }
    case 'postgres':
    case 'redis':
      return err(`vault.store: ${store.kind} is not built into this version; use sqlite:PATH.`);
  }
}

async function checkKeys(store: Store, ring: KeyRing, config: Config): Promise<string | undefined> {
  try {
    switch (await checkCanary(store, ring, config.vault.namespace)) {
      case 'wrong-key':
        return 'The keys in vault.keys do not fit this database. Use the key that it was made with (it may stand after a new one), or another database.';
      case 'missing-canary':
        return 'This database holds records but not the mark of its keys; it was damaged or changed. Restore it from a backup.';
      case undefined:
        return undefined;
    }
  } catch (error) {
    return `The database cannot be read or written (${describeError(error)}).`;
  }
}

function createServer(config: Config): FastifyInstance {
  const { trustedProxies } = config.server;
  return fastify({
    logger: false,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true },
    // Together these end a slow sender within ten seconds; Node's own defaults let it stay for minutes.
    http: { headersTimeout: 8_000, requestTimeout: 9_000, connectionsCheckingInterval: 500 },
  });
}

function createGateway(foundation: Foundation, server: FastifyInstance, audit: Gateway['audit']): Gateway {
  const { config, store, ring, vault, interactions, notices, log, now } = foundation;
  const { calls } = config.limits.perUser;
  const countCall = calls === undefined ? undefined : createCount(server, calls);
  const identifyLocal = localIdentity(config);
  return {
    addressed: createAddressGuard(config.server),
    identify: (request) => identifyLocal(request.headers),
    countCall: countCall === undefined ? undefined : (request, principal) => countCall(request, JSON.stringify([principal.issuer, principal.subject])),
    sessions: createSessions(store, ring, config.vault.namespace, now),
    vault,
    scrubbers: createScrubbers(),
    ask: createAsk(interactions, (ticketId) => connectUrl(config, ticketId)),
    notices,
    streams: createServerStreams(),
    heartbeat: createHeartbeat(),
    audit,
    log,
    now,
    fallback: config.elicitation.fallback,
    clients: config.elicitation.clients,
  };
}

function createPages(foundation: Foundation, server: FastifyInstance, audit: Pages['audit'], upstreams: ReadonlyMap<string, ProtectedUpstream>): Pages {
  const { config, ring, vault, interactions, notices, log, now } = foundation;
  const { perUser, perAddress } = config.limits;
  const countPage = createCount(server, perAddress.pages);
  const countSubmission = createCount(server, perUser.submissions);
  const identifyLocal = localIdentity(config);
  return {
    addressed: createAddressGuard(config.server),
    identify(request: FastifyRequest) {
      const visitor = identifyLocal(request.headers);
      return visitor.ok ? visitor : err('not-local');
    },
    find(name, credentialName) {
      const upstream = upstreams.get(name);
      const credential = upstream?.credentials.find((one) => one.config.name === credentialName);
      return upstream === undefined || credential === undefined ? undefined : { upstream: upstream.config, credential };
    },
    interactions,
    notices,
    vault,
    ring,
    namespace: config.vault.namespace,
    audit,
    log,
    now,
    countPage: (request) => countPage(request, request.ip),
    countSubmission: (request, principal) => countSubmission(request, JSON.stringify([principal.issuer, principal.subject])),
    frame: createFrame(config.pages, pagesBase(config), stylePath(styleSheet(config.pages.accent))),
    connectUrl: (ticketId) => connectUrl(config, ticketId),
    async renew({ interactionId: _interaction, elicitationId: _elicitation, ...attempt }: Ticket) {
      return (await interactions.begin(attempt)).ticketId;
    },
  };
}

function localIdentity(config: Config) {
  const { local } = config.identity;
  if (local === undefined) throw new Error('this version knows only identity.local');
  return createLocalIdentity(local.user);
}

function httpUpstreams(config: Config): HttpUpstream[] {
  return Object.values(config.upstreams).filter((upstream): upstream is HttpUpstream => upstream.transport === 'streamable-http');
}

/** Whether or not a proxy in front takes the public URL's path away, the same paths answer. */
function basePaths(config: Config): string[] {
  return [...new Set(['', trimSlash(config.server.publicUrl.pathname)])];
}

function gatewayPaths(config: Config, upstreams: ReadonlyMap<string, ProtectedUpstream>): Map<string, ProtectedUpstream> {
  const all = [...upstreams.values()];
  const [only] = all;
  const own = all.map((upstream): [string, ProtectedUpstream] => [trimSlash(upstream.config.path), upstream]);
  const paths = all.length === 1 && only !== undefined ? [...own, ['/mcp', only] as const] : own;
  return new Map(basePaths(config).flatMap((base) => paths.map(([path, upstream]): [string, ProtectedUpstream] => [base + path, upstream])));
}

function pagePrefixes(config: Config): string[] {
  return basePaths(config).map((base) => base + trimSlash(config.server.pagesPath));
}

function pagesBase(config: Config): string {
  return trimSlash(config.server.publicUrl.pathname) + trimSlash(config.server.pagesPath);
}

function connectUrl(config: Config, ticketId: string): string {
  return `${config.server.publicUrl.origin}${pagesBase(config)}/connect/${ticketId}`;
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Waits for open calls, at most for `drainMs`; connections without one are closed as they fall idle. */
async function drain(server: FastifyInstance, drainMs: number): Promise<void> {
  const closeIdle = setInterval(() => {
    server.server.closeIdleConnections();
  }, closingPollMs);
  const cut = setTimeout(() => {
    server.server.closeAllConnections();
  }, drainMs);
  await server.close();
  clearInterval(closeIdle);
  clearTimeout(cut);
}

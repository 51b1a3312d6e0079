/**
 * The composition root: from the configuration to the adapters, to the stations, to a server that does
 * not listen yet. The only place that names concrete adapters.
 */
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import { randomBytes } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DestinationStream } from 'pino';
import { accountOrigins, openAccounts, unusableKey, type AccountsStation } from './collect/oauth/open-accounts.ts';
import { createVerify, verifyOrigins, type Verify } from './collect/verify.ts';
import type { Config, Upstream as UpstreamConfig } from './config/config.ts';
import { createAsk } from './elicitation/ask.ts';
import { createInteractions, type Interactions, type Ticket } from './elicitation/interactions.ts';
import { createNotices, type Notices } from './elicitation/notices.ts';
import { createReplies } from './elicitation/replies.ts';
import { err, ok, UnavailableError, type Result } from './errors.ts';
import { createBindings } from './gateway/bindings.ts';
import { endpointsOf } from './gateway/endpoint.ts';
import { forgetWithSecrets } from './gateway/forget-secrets.ts';
import type { Gateway } from './gateway/gateway.ts';
import { createHeldCalls } from './gateway/held-calls.ts';
import { createRounds } from './gateway/round.ts';
import { createUpstreamEras } from './gateway/upstream-eras.ts';
import { createHeartbeat } from './gateway/heartbeat.ts';
import { createRenewals } from './gateway/renewals.ts';
import { createInFlight } from './gateway/in-flight.ts';
import { createLeftStreams } from './gateway/left-streams.ts';
import { protectUpstream, type ProtectedUpstream } from './gateway/protected-upstream.ts';
import { registerResourceMetadata } from './gateway/resource-metadata.ts';
import { registerGateway } from './gateway/routes.ts';
import { createScrubbers } from './gateway/scrubbers.ts';
import { createServerStreams } from './gateway/server-streams.ts';
import { createSessions } from './gateway/sessions.ts';
import { createTasks } from './gateway/tasks.ts';
import { createUnheardCalls } from './gateway/unheard-calls.ts';
import { createAddressGuard } from './identity/addressed.ts';
import { cookieRules } from './identity/cookies.ts';
import { createIdentity, identityOrigins, type Identity } from './identity/identity.ts';
import { personKey } from './identity/principal.ts';
import { withProof } from './identity/proof.ts';
import { openAudit } from './operate/audit.ts';
import { createDrain, createUnready } from './operate/drain.ts';
import { createHealthServer } from './operate/health.ts';
import { createCount } from './operate/limits.ts';
import { createLog, describeError, type Log } from './operate/log.ts';
import { connectUrl, loginUrl, pageLinks, pagePrefixes, pagesBase } from './pages/addresses.ts';
import { createFrame } from './pages/frame.ts';
import { questionsOf } from './pages/questions.ts';
import { answerBadAddress, registerPages, stylePath } from './pages/routes.ts';
import { styleSheet } from './pages/style-sheet.ts';
import type { Pages } from './pages/visit.ts';
import { migrateStore, openStore, storeWords } from './stores/open.ts';
import type { Clock, Store } from './stores/store.ts';
import { readCertificates } from './upstreams/certificates.ts';
import { createOutbound } from './upstreams/outbound.ts';
import { openUpstream } from './upstreams/open-upstream.ts';
import { checkCanary } from './vault/canary.ts';
import { createKeyRing, type KeyRing } from './vault/key-ring.ts';
import { createRefresher } from './vault/refresh.ts';
import { createVault, type Vault } from './vault/secrets.ts';

/** Questions, links, notices, locks, and logins and connections under way: whoever loses one to a power failure begins again. Secrets and ended sessions are never among them. */
const losableKinds = ['interaction/', 'ticket/', 'notice/', 'login/', 'transaction/', 'lock/'];

/** A person waits for it in front of the page. */
const verifyWithinMs = 15_000;

/** What the process lends: nothing below this reads the environment, the clock or a stream by itself. */
export interface Edge {
  /** Writes audit lines to standard output; throws when it cannot. */
  readonly stdout: (text: string) => void;
  readonly logTo: DestinationStream;
  readonly now: Clock;
  /** What the only client that is served says as its bearer token, beside what `identity` wants. */
  readonly proof?: string;
  /** Signals a process group of ours; one that is gone hears nothing. */
  readonly signalGroup: (pid: number, signal: 'SIGTERM' | 'SIGKILL') => void;
}

export interface App {
  readonly log: Log;
  listen(): Promise<void>;
  /** Not ready at once; after `server.closeAfter` ends idle streams, lets open calls finish within `server.drain`, then closes everything. */
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

/** @returns the server, or one sentence that says why it must not start */
export async function createApp(config: Config, edge: Edge): Promise<Result<App, string>> {
  const log = createLog(config.log, edge.logTo);
  const badKey = unusableKey(config);
  if (badKey !== undefined) return err(badKey);
  const opened = await openRecords(config, edge.now);
  if (!opened.ok) return opened;
  const { store, ring, warnings } = opened.value;
  for (const warning of warnings) log.warn({ store: config.vault.store.kind }, warning);
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
  try {
    return ok(await assemble(foundation, edge));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    await store.close();
    return err(`Cannot start: ${error.message} (${describeError(error.cause)}).`);
  }
}

async function assemble(base: Foundation, edge: Edge): Promise<App> {
  const { config, store, log, now } = base;
  const audit = openAudit(config.audit, edge.stdout, now, (error) => {
    log.error({ reason: describeError(error) }, 'an audit line could not be written');
  });
  const server = createServer(config, (request, reply) => { answerBadAddress(pages, request, reply); });
  const drain = createDrain(server);
  await server.register(rateLimit, { global: false });
  const open = (upstream: UpstreamConfig) => openUpstream(upstream, { now, signalGroup: edge.signalGroup, report: (facts, text) => { log.warn({ upstream: upstream.name, ...facts }, text); } });
  const upstreams = new Map(Object.values(config.upstreams).map((upstream) => [upstream.name, protectUpstream(config, upstream, open(upstream))]));
  const foundation: Foundation = { ...base, vault: forgetWithSecrets(base.vault, [...upstreams.values()].map(({ adapter }) => adapter)) };
  const outbound = openOutbound(config);
  const identity = createIdentity({ config, store, ring: foundation.ring, fetch: outbound.fetch, log, now, redirectUri: `${config.server.publicUrl.origin}${pagesBase(config)}/auth/callback` });
  const station = await openAccounts({ config, store, ring: foundation.ring, fetch: outbound.fetch, log, now, base: config.server.publicUrl.origin + pagesBase(config) });
  const gateway = createGateway(foundation, server, audit, identity, station, edge.proof);
  const css = styleSheet(config.pages.accent);
  const verify = createVerify({ fetch: outbound.fetch, log, now, limitMs: verifyWithinMs });
  const pages = createPages(foundation, server, audit, identity, station, upstreams, css, verify);
  const endpoints = endpointsOf(config.server.publicUrl, [...upstreams.values()], config.identity.oauth?.audience);
  await server.register((child) => {
    registerGateway(child, gateway, endpoints, config.server.maxBody);
    if (identity.metadata !== undefined) registerResourceMetadata(child, endpoints, identity.metadata);
    return Promise.resolve();
  });
  await server.register(async (child) => {
    await child.register(formbody);
    await child.register(cookie);
    registerPages(child, pages, {
      prefixes: pagePrefixes(config),
      css,
      oauth: station,
      taken: new Set(endpoints.map(({ path }) => (path === '' ? '/' : path))),
      isSecure: config.server.publicUrl.protocol === 'https:',
      ...(identity.browserLogin === undefined ? {} : { login: { browserLogin: identity.browserLogin, cookies: cookieRules(config.server.publicUrl), base: pagesBase(config), href: loginUrl(config) } }),
    });
  });

  const unready = createUnready(config.server.closeAfter);
  const { admin } = config.server;
  const health = admin === false ? undefined : createHealthServer(store, unready.isClosing);
  return {
    log,
    async listen() {
      await server.listen(config.server.listen);
      if (admin !== false) await health?.listen(admin);
      log.info({ listen: config.server.listen, publicUrl: config.server.publicUrl.href, upstreams: [...upstreams.keys()] }, 'serving');
    },
    async close() {
      await unready.begin();
      gateway.streams.endAll();
      await drain(config.server.drain);
      gateway.heartbeat.close();
      await Promise.all([outbound.close(), ...[...upstreams.values()].map((upstream) => upstream.adapter.close())]);
      await health?.close();
      await store.close();
      audit.close();
      log.info({}, 'closed');
    },
  };
}

/** An upstream as it answers without anybody's credentials, for commands. The caller closes its adapter. */
export function reachUpstream(config: Config, upstream: UpstreamConfig, edge: Pick<Edge, 'now' | 'signalGroup'>): ProtectedUpstream {
  return protectUpstream(config, { ...upstream, rules: [], attach: 'required' }, openUpstream(upstream, { now: edge.now, signalGroup: edge.signalGroup, report: () => undefined }));
}

/** The guarded client for identity providers and third parties; origins that the file names may be private. */
export function openOutbound(config: Config): ReturnType<typeof createOutbound> {
  const namedOrigins = new Set([...identityOrigins(config), ...accountOrigins(config), ...verifyOrigins(config)]);
  return createOutbound({ namedOrigins, allow: config.outbound.allow, proxy: config.outbound.proxy, certificates: readCertificates('outbound.ca', config.outbound.ca === undefined ? {} : { ca: config.outbound.ca }, true) });
}

/** What is at rest: the store, and the keys that fit it. */
export interface Records {
  readonly store: Store;
  readonly ring: KeyRing;
  readonly warnings: readonly string[];
}

/** Opens the store and checks its keys, for the server and for commands. @returns or one sentence that says why not */
export async function openRecords(config: Config, now: Clock): Promise<Result<Records, string>> {
  const opened = await attempt(config, () => openStore(config.vault, now, losableKinds));
  if (!opened.ok) return opened;
  const { store, warnings } = opened.value;
  const ring = createKeyRing(config.vault.keys);
  const fault = await checkKeys(store, ring, config);
  if (fault === undefined) return ok({ store, ring, warnings });
  await store.close();
  return err(fault);
}

/** Makes the store's tables ready. @returns how many steps there were to do; undefined when it has no tables */
export async function prepareStore(config: Config): Promise<Result<number | undefined, string>> {
  return attempt(config, () => migrateStore(config.vault));
}

async function attempt<T>({ vault }: Config, open: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await open());
  } catch (error) {
    const { name, check } = storeWords(vault.store);
    return err(`The database ${name} cannot be opened (${describeError(error)}). ${check}`);
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

function createServer(config: Config, onBadAddress: (request: FastifyRequest, reply: FastifyReply) => void): FastifyInstance {
  const { trustedProxies } = config.server;
  const server = fastify({
    logger: false,
    // Fastify's own answer would repeat the address.
    frameworkErrors: (_error, request, reply) => { onBadAddress(request, reply); },
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    forceCloseConnections: 'idle',
    // A ticket of any length is one that does not exist.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    // Together these end a slow sender within ten seconds; Node's own defaults let it stay for minutes.
    // Fastify writes its own requestTimeout over the one in `http`.
    requestTimeout: 8_000,
    http: { headersTimeout: 7_000, connectionsCheckingInterval: 500 },
  });
  // Fastify's own answer repeats the whole URL, and a query may hold a token.
  server.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('Not found.\n'));
  return server;
}

function createGateway(foundation: Foundation, server: FastifyInstance, audit: Gateway['audit'], identity: Identity, { accounts }: AccountsStation, proof: string | undefined): Gateway {
  const { config, store, ring, vault, interactions, notices, log, now } = foundation;
  const { calls } = config.limits.perUser;
  const countCall = calls === undefined ? undefined : createCount(server, calls);
  const streams = createServerStreams();
  return {
    addressed: createAddressGuard(config.server),
    identify: withProof(identity.caller, proof),
    countCall: countCall === undefined ? undefined : (request, principal) => countCall(request, personKey(principal)),
    sessions: createSessions(store, ring, config.vault.namespace, now, (sessionId) => streams.bySession.get(sessionId)?.end()),
    tasks: createTasks(store, ring, config.vault.namespace, now),
    bindings: createBindings(store, ring, config.vault.namespace, now),
    vault,
    scrubbers: createScrubbers(),
    ask: createAsk(interactions, (ticketId) => connectUrl(config, ticketId)),
    renewals: createRenewals(createRefresher(store, vault, now), accounts, audit),
    notices,
    streams,
    unheard: createUnheardCalls(),
    heartbeat: createHeartbeat(),
    leftStreams: createLeftStreams(),
    inFlight: createInFlight(() => randomBytes(8).toString('hex')),
    audit,
    log,
    now,
    fallback: config.elicitation.fallback,
    delivery: config.elicitation.delivery,
    heldCalls: createHeldCalls(config.limits.perUser.held, config.elicitation.holdFor),
    interactions,
    replies: createReplies(store, ring, config.vault.namespace),
    rounds: createRounds(ring, config.vault.namespace, now),
    eras: createUpstreamEras(now),
    clients: config.elicitation.clients,
  };
}

function createPages(foundation: Foundation, server: FastifyInstance, audit: Pages['audit'], identity: Identity, { accounts }: AccountsStation, upstreams: ReadonlyMap<string, ProtectedUpstream>, css: string, verify: Verify): Pages {
  const { config, ring, vault, interactions, notices, log, now } = foundation;
  const { perUser, perAddress } = config.limits;
  const countPage = createCount(server, perAddress.pages);
  const countSubmission = createCount(server, perUser.submissions);
  const links = pageLinks(config, identity);
  return {
    addressed: createAddressGuard(config.server),
    identify: identity.visitor,
    ...questionsOf(upstreams),
    interactions,
    notices,
    vault,
    verify({ upstream, credential }, fields) {
      const at = upstreams.get(upstream.name);
      if (at === undefined) throw new Error(`${upstream.name} is no upstream`);
      return verify(credential, at, fields);
    },
    ring,
    namespace: config.vault.namespace,
    audit,
    log,
    now,
    accounts,
    cookies: cookieRules(config.server.publicUrl),
    countPage: (request) => countPage(request, request.ip),
    countSubmission: (request, principal) => countSubmission(request, personKey(principal)),
    frame: createFrame(config.pages, links, `${pagesBase(config)}${stylePath(css)}`),
    links,
    async renew({ interactionId: _interaction, elicitationId, ...attempt }: Ticket) {
      return (await interactions.begin(attempt, elicitationId)).ticketId;
    },
  };
}

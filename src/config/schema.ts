/**
 * The whole file, as one zod schema: from it come the validation, the type of the loaded configuration,
 * the JSON Schema for editors and the reference in docs/configuration.md. Unknown keys are errors;
 * those beginning with `x-` are left out before (sections.ts). What keys mean together is meaning.ts.
 */
import * as z from 'zod';
import { err, ok } from '../errors.ts';
import { credentials, payments } from './schema-credentials.ts';
import { identity } from './schema-identity.ts';
import { store } from './schema-store.ts';
import { upstreams } from './schema-upstreams.ts';
import {
  address,
  duration,
  lifetime,
  link,
  network,
  origin,
  parseUrl,
  path,
  rate,
  read,
  size,
  text,
  urlPath,
  waiting,
  webUrl,
  words,
} from './values.ts';

/** The languages that the pages may be shown in. */
export const locales = ['en', 'de', 'zh-CN', 'th'] as const;

const server = z.strictObject({
  listen: address().prefault('127.0.0.1:8080').describe('The address that clients and browsers reach.'),
  publicUrl: read((value) => {
    const right = 'an http or https URL without query, user and password, e.g. https://mcp.example.com';
    const url = parseUrl(value, ['http:', 'https:'], right);
    return url.ok && url.value.search !== '' ? err(right) : url;
  })
    .exactOptional()
    .describe('What browsers and clients type; may have a path; https unless loopback. By default http:// and listen.'),
  pagesPath: urlPath().prefault('/').describe('Where the browser pages hang below publicUrl.'),
  admin: z
    .union([z.literal(false), address()])
    .prefault('127.0.0.1:9090')
    .describe('The address of health: /healthz and /readyz; false turns it off.'),
  trustedProxies: z.array(network()).prefault([]).describe('Networks that may set X-Forwarded-*.'),
  allowedHosts: z.array(hostHeader()).prefault([]).describe('Host values beside those of publicUrl and listen.'),
  allowedOrigins: z.array(origin()).prefault([]).describe('Origin values beside publicUrl’s; requests without Origin are fine.'),
  maxBody: size().prefault('8MiB').describe('The largest request body.'),
  drain: waiting().prefault('30s').describe('How long open calls may finish after a stop; idle streams end at once.'),
  closeAfter: waiting()
    .prefault('0s')
    .describe('How long everything is served on after a stop while /readyz is 503 already; as long as a balancer takes to see it.'),
  advertise: webUrl().exactOptional().describe('How other replicas reach this one, when upstream sessions live in it.'),
});

function hostHeader() {
  return read((value) => {
    const url = URL.parse(`http://${value}`);
    const isHost = url !== null && url.pathname === '/' && url.username === '' && !/[/?#@\s]/.test(value);
    return isHost ? ok(value.toLowerCase()) : err('a host such as mcp.internal or mcp.internal:8080');
  });
}

const vaultKey = () =>
  read((value) => {
    const isBase64 = /^[A-Za-z0-9+/_-]{43}=?$/.test(value);
    const bytes = Buffer.from(value, 'base64');
    // A path where the key itself belongs. What is there is not repeated: it may be half a key.
    if (/^(?:\.{0,2}|~)\/[^\n]*[^A-Za-z0-9+/=]/.test(value)) return err('${file:PATH} around the path of a file that holds the key');
    return isBase64 && bytes.length === 32 ? ok(bytes) : err('32 random bytes in base64: `elicitgate keygen` prints such a key');
  }).meta({ writeOnly: true });

const someKeys = 'a list with at least one key: `elicitgate keygen` prints one';

const vault = z.strictObject(
  {
    store: store()
      .prefault('sqlite:./data/elicitgate.db')
      .describe('Where records are kept: memory:, sqlite:PATH, postgres://… or redis://…; or a map, when that needs more than an address.'),
    keys: z
      .array(vaultKey(), { error: someKeys })
      .min(1, someKeys)
      .describe('Keys of 32 random bytes in base64, as `elicitgate keygen` makes them; the first seals, all open.'),
    namespace: words().prefault('default').describe('Keeps several installations in one database apart.'),
    cacheFor: duration().prefault('30s').describe('How long opened secrets stay in memory; 0s for never.'),
    deleteUnusedAfter: lifetime().prefault('365d').describe('A secret that nobody uses for so long is deleted.'),
    migrate: z.boolean().exactOptional().describe('PostgreSQL: false when `elicitgate migrate` prepares the tables.'),
  },
  { error: 'a map with keys; `elicitgate keygen` prints a key' },
);

const elicitation = z.strictObject({
  delivery: z
    .enum(['error', 'hold'])
    .default('error')
    .describe('How clients with URL elicitation are asked: with an error that they retry after, or by holding the call.'),
  fallback: z
    .enum(['text', 'refuse'])
    .default('text')
    .describe('What clients without URL elicitation get: a text with the link, or a refusal without it.'),
  holdFor: waiting().prefault('45s').describe('How long a call is held.'),
  expiresAfter: lifetime().prefault('30m').describe('How long a link works.'),
  clients: z
    .array(
      z.strictObject({
        name: words().describe('How the client’s own name begins.'),
        treatAs: z.enum(['url', 'text']).describe('As a client with URL elicitation, or without.'),
      }),
    )
    .prefault([])
    .describe('Legacy clients that declare something else than they can.'),
});

const outbound = z.strictObject({
  ca: path().exactOptional().describe('A file with further certificate authorities.'),
  proxy: z
    .union([z.literal('').transform(() => undefined), read((value) => proxyUrl(value))])
    .prefault('')
    .meta({ writeOnly: true })
    .describe('An HTTP proxy for outgoing requests; empty for none.'),
  allow: z.array(network()).prefault([]).describe('Private networks that discovery may reach.'),
});

function proxyUrl(value: string) {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.host !== '' ? ok(url) : err('an http or https URL, or empty for none');
}

const pages = z.strictObject({
  name: text().prefault('Elicitgate').describe('Whose pages these are.'),
  logo: path().exactOptional().describe('An image file: svg, png or jpg.'),
  accent: z
    .string()
    .regex(/^#[0-9A-Fa-f]{6}$/, 'a colour such as "#2f6f4f" (in quotes: # begins a comment)')
    .default('#2f6f4f')
    .describe('The one colour of the pages.'),
  support: link().exactOptional().describe('Where people get help: mailto: or https:.'),
  links: z
    .array(z.strictObject({ title: text().describe('The words of the link.'), url: link().describe('Where it leads.') }))
    .prefault([])
    .describe('Links at the foot of every page.'),
  locales: z.array(z.enum(locales)).min(1).prefault([...locales]).describe('Languages of the pages; by default all that ship.'),
});

const count = () => z.int().min(1);

const limits = z.strictObject({
  perUser: z
    .strictObject({
      calls: rate().exactOptional().describe('Calls of one person; unlimited by default.'),
      submissions: rate().prefault('10/10m').describe('Forms that one person may send.'),
      openInteractions: count().default(20).describe('Open questions of one person; the oldest gives way.'),
      held: count().default(10).describe('Calls of one person that are held at once.'),
    })
    .prefault({})
    .describe('Limits of one person.'),
  perAddress: z
    .strictObject({ pages: rate().prefault('120/1m').describe('Pages that one address may open.') })
    .prefault({})
    .describe('Limits of one network address.'),
});

const log = z.strictObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info').describe('How much is said.'),
  format: z.enum(['json', 'pretty']).default('json').describe('For machines, or for people.'),
});

export type AuditTarget = { readonly kind: 'stdout' } | { readonly kind: 'file'; readonly path: string };

const auditTarget = () =>
  read<AuditTarget>((value) => {
    if (value === 'stdout') return ok({ kind: 'stdout' });
    if (/^file:.*[^\s/]$/.test(value)) return ok({ kind: 'file', path: value.slice('file:'.length) });
    return err('stdout or file:PATH');
  });

const audit = z.strictObject({
  to: z.array(auditTarget()).prefault(['stdout']).describe('Where audit lines go: stdout, file:PATH.'),
  required: z.boolean().default(false).describe('Nothing is injected when the line cannot be written.'),
});

export const fileSchema = z.strictObject({
  version: z.literal(1, { error: '1, the version that this program reads' }).describe('The version of this format.'),
  server: server.prefault({}).describe('Where Elicitgate listens and how it is reached.'),
  identity: identity.describe('Who calls: exactly one of oauth, jwtHeader, proxyHeaders and local.'),
  vault: vault.describe('Where secrets are kept and how they are sealed.'),
  elicitation: elicitation.prefault({}).describe('How people are asked.'),
  credentials: credentials.prefault({}).describe('What people must provide, by name.'),
  payments: payments.exactOptional().describe('The accounts of payment providers.'),
  upstreams: upstreams
    .refine((all) => Object.keys(all).length > 0, 'at least one upstream')
    .describe('The MCP servers behind the proxy, by name.'),
  outbound: outbound.prefault({}).describe('Requests to third parties.'),
  pages: pages.prefault({}).describe('How the browser pages look.'),
  limits: limits.prefault({}).describe('How much one person or address may do.'),
  log: log.prefault({}).describe('What is logged.'),
  audit: audit.prefault({}).describe('The record of what was asked, given and used.'),
  telemetry: z
    .strictObject({ otlp: webUrl().describe('The collector’s address (OTLP over HTTP).') })
    .exactOptional()
    .describe('Traces for an OpenTelemetry collector.'),
});

/** What the schema makes of a file, before names, paths and digests are added. */
export type ParsedFile = z.output<typeof fileSchema>;

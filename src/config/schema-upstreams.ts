/**
 * The section `upstreams`: the MCP servers behind the proxy and the rules that say which of their
 * calls need what.
 */
import * as z from 'zod';
import { inject } from './schema-credentials.ts';
import { audience, globs, headerName, headers, key, path, pattern, text, urlPath, variables, waiting, webUrl, words } from './values.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const comparison = z
  .strictObject({
    gt: z.number().exactOptional().describe('Greater than.'),
    gte: z.number().exactOptional().describe('Greater than or equal.'),
    lt: z.number().exactOptional().describe('Less than.'),
    lte: z.number().exactOptional().describe('Less than or equal.'),
    matches: pattern().exactOptional().describe('A text in which this pattern (RE2) is found.'),
    exists: z.boolean().exactOptional().describe('Whether there is a value at all.'),
  })
  .refine((value) => Object.keys(value).length > 0, 'a value, a list of values, or one of gt, gte, lt, lte, matches, exists');

const conditions = () => z.record(words(), z.union([scalar, z.array(scalar).min(1).readonly(), comparison]));

const when = z.strictObject({
  arguments: conditions().exactOptional().describe('Conditions on the call’s arguments, by dotted path or JSON pointer.'),
  claims: conditions().exactOptional().describe('Conditions on the caller’s claims, written likewise.'),
});

const requirement = z.union([
  key(),
  z.strictObject({
    anyOf: z.array(key()).min(1).describe('Any one of these credentials is enough.'),
  }),
  z.strictObject({
    credential: key().describe('The name of a credential.'),
    scopes: z.array(words()).min(1).describe('Scopes that the connected account must have granted.'),
  }),
]);

const rule = z.strictObject({
  tools: globs().exactOptional().describe('Names of tools; * is any run, ? one character, a leading ! takes names out again.'),
  resources: globs().exactOptional().describe('URIs of resources, with the same wildcards.'),
  prompts: globs().exactOptional().describe('Names of prompts, with the same wildcards.'),
  when: when.exactOptional().describe('The rule applies only when all of these hold.'),
  unless: when.exactOptional().describe('The rule does not apply when all of these hold; keys as in when.'),
  requires: z.array(requirement).min(1).describe('The credentials that a matching call needs.'),
});

const rejected = z.strictObject({
  status: z.array(z.int().min(400).max(599)).prefault([401]).describe('HTTP status codes that mean it.'),
  toolError: pattern().exactOptional().describe('A pattern (RE2) found in the text of a tool’s error.'),
  rpcError: z.array(z.int()).prefault([]).describe('JSON-RPC error codes that mean it.'),
  maxPerHour: z.int().min(1).default(3).describe('How often a person is asked again; after that the upstream’s own error passes.'),
});

const any = {
  title: text().exactOptional().describe('What people know it by; by default the name.'),
  path: urlPath().exactOptional().describe('Where it answers below publicUrl; by default /{name}/mcp. A single upstream answers at /mcp too.'),
  audience: audience().exactOptional().describe('Token audience for this upstream, instead of identity.oauth.audience.'),
  delivery: z.enum(['error', 'hold']).exactOptional().describe('For this upstream, instead of elicitation.delivery.'),
  fallback: z.enum(['text', 'refuse']).exactOptional().describe('For this upstream, instead of elicitation.fallback.'),
  attach: z
    .enum(['required', 'always'])
    .default('required')
    .describe('When credentials go along: where a rule asks, or on every request once the person has one.'),
  catalogue: path()
    .exactOptional()
    .describe('A JSON file that answers initialize, discover and lists while the person has no credential; with it, attach is always.'),
  timeout: waiting().prefault('10m').describe('How long one call may take.'),
  rules: z.array(rule).prefault([]).describe('Which calls need what; every rule that matches adds its requirements.'),
  inject: z.record(key(), inject).prefault({}).describe('By credential: where it is put here, instead of the credential’s own; keys as in credentials.NAME.inject.'),
  rejected: rejected.exactOptional().describe('How this upstream says "bad credential"; by default with status 401.'),
};

const http = z.strictObject({
  transport: z
    .enum(['streamable-http', 'sse'])
    .default('streamable-http')
    .describe('How the server is spoken to: streamable-http, sse (the old HTTP transport), or stdio.'),
  url: webUrl().describe('The server’s address.'),
  headers: headers().prefault({}).describe('The operator’s own headers, for calls that carry no user credential.'),
  forwardHeaders: z.array(headerName()).prefault([]).describe('Headers of the client that are let through.'),
  tls: z
    .strictObject({
      ca: path().exactOptional().describe('A file with the authority that signed the server’s certificate.'),
      cert: path().exactOptional().describe('A file with the proxy’s own certificate.'),
      key: path().exactOptional().describe('A file with that certificate’s key.'),
    })
    .exactOptional()
    .describe('Certificates for the connection.'),
  ...any,
});

const id = () => z.int().min(1).max(4_294_967_294);

const stdio = z.strictObject({
  transport: z.literal('stdio').describe('A program that speaks over standard input and output, one process per person.'),
  command: words().describe('The program.'),
  args: z.array(z.string()).prefault([]).describe('Its arguments.'),
  cwd: path().exactOptional().describe('Its working folder.'),
  env: variables().prefault({}).describe('Its environment, beside what credentials put there; nothing is inherited.'),
  discoveryEnv: variables().prefault({}).describe('Environment of the process that only lists tools.'),
  runAs: z
    .strictObject({ uid: id().describe('The user’s number.'), gid: id().describe('The group’s number.') })
    .exactOptional()
    .describe('The user that the processes run as; needed when several people use it.'),
  trusted: z.boolean().default(false).describe('The program may see every person’s secrets; allows several people without runAs.'),
  idleAfter: waiting().prefault('10m').describe('A process that nobody uses ends after this time.'),
  maxProcesses: z.int().min(1).default(50).describe('How many processes may run at once.'),
  ...any,
});

export const upstreams = z.record(key(), z.discriminatedUnion('transport', [http, stdio]));

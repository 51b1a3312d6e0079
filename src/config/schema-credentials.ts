/**
 * The sections `credentials` and `payments`: what a person must provide, how it is asked for and where
 * it is put.
 */
import * as z from 'zod';
import { presetNames } from './presets.ts';
import { fieldNamePattern } from './template.ts';
import {
  headerTemplates,
  issuer,
  key,
  lifetime,
  link,
  path,
  pattern,
  secret,
  template,
  text,
  variableTemplates,
  webUrl,
  words,
} from './values.ts';

export const inject = z.strictObject({
  headers: headerTemplates()
    .prefault({})
    .describe('Request headers of every forwarded message that carries this credential.'),
  query: z.record(words(), template()).prefault({}).describe('Query parameters of the upstream’s URL; never logged.'),
  arguments: z
    .record(words(), template())
    .prefault({})
    .describe('Tool arguments by dotted path; taken out of the schema that tools/list shows.'),
  meta: z.record(words(), template()).prefault({}).describe('Keys of params._meta.'),
  env: variableTemplates().prefault({}).describe('Environment of this person’s own process (stdio).'),
});

const field = z.strictObject({
  name: z
    .string()
    .regex(new RegExp(fieldNamePattern), 'a field name: letters, digits, - and _, beginning with a letter')
    .describe('The name by which templates read the field; the input on the page has it too.'),
  label: text().exactOptional().describe('What stands beside the input; by default the name.'),
  pattern: pattern().exactOptional().describe('What the value must look like (RE2); anchor it with ^ and $.'),
  hint: text().exactOptional().describe('One short sentence below the input.'),
  secret: z.boolean().default(true).describe('Hide what is typed. False for values such as an e-mail address.'),
  multiline: z.boolean().default(false).describe('For keys of several lines.'),
});

const verifyByUrl = z.strictObject({
  url: webUrl().describe('Asked with the new value before it is stored.'),
  headers: headerTemplates().prefault({}).describe('Request headers, made from the fields.'),
  expect: z.array(z.int().min(100).max(599)).min(1).prefault([200]).describe('Status codes that mean "this value is good".'),
  orStoreAnyway: z
    .boolean()
    .default(false)
    .describe('After a timeout, never after a refusal, the person may choose to store the value all the same.'),
});

const verifyByTool = z.strictObject({
  tool: words().describe('A tool of the upstream that is called with the new value before it is stored.'),
  arguments: z.record(z.string(), z.json()).prefault({}).describe('The arguments of that call.'),
  orStoreAnyway: z
    .boolean()
    .default(false)
    .describe('After a timeout, never after a refusal, the person may choose to store the value all the same.'),
});

const asked = {
  title: text().exactOptional().describe('What people know it by; by default the name.'),
  description: text().exactOptional().describe('One sentence on what it is for.'),
  help: link().exactOptional().describe('A page where one gets it.'),
  shared: z
    .boolean()
    .default(false)
    .describe('False: asked for by each upstream. True: one secret for all upstreams that require it.'),
  inject: inject.prefault({}).describe('Where the value is put.'),
};

const apiKey = z.strictObject({
  kind: z.literal('apiKey').describe('Values that the person types on a page.'),
  ...asked,
  fields: z.array(field).min(1).describe('What the page asks for.'),
  verify: z
    .union([verifyByUrl, verifyByTool])
    .exactOptional()
    .describe('How the value is tried before anything is stored: an address, or a tool of the upstream.'),
  expiresAfter: lifetime().exactOptional().describe('The person is asked again after this time.'),
});

const oauth = z.strictObject({
  kind: z.literal('oauth').describe('An account that the person connects at a third party.'),
  ...asked,
  preset: z.enum(presetNames).exactOptional().describe('A well-known provider: fills its addresses and parameters; anything beside it counts more.'),
  issuer: issuer().exactOptional().describe('The third party; its addresses are discovered. Beside endpoints: what it calls itself in its answers.'),
  authorizationEndpoint: webUrl().exactOptional().describe('Instead of `issuer`: where people consent.'),
  tokenEndpoint: webUrl().exactOptional().describe('Instead of `issuer`: where codes and refresh tokens are redeemed.'),
  revocationEndpoint: webUrl().exactOptional().describe('Where tokens are revoked on disconnect.'),
  clientId: words().exactOptional().describe('The client id that the third party gave to this installation.'),
  clientSecret: secret().exactOptional().describe('The secret of that client.'),
  clientAuth: z
    .discriminatedUnion('method', [
      z.strictObject({
        method: z
          .enum(['client_secret_basic', 'client_secret_post', 'none'])
          .describe('clientSecret in the header (the default) or in the body, or no proof at all (a public client).'),
      }),
      z.strictObject({
        method: z.literal('private_key_jwt').describe('The client proves itself with a signed assertion (RFC 7523), instead of clientSecret.'),
        key: path().describe('A file with the private key, PEM (PKCS #8) or JWK.'),
        keyId: words().exactOptional().describe('The key’s id (kid), where the third party wants one.'),
      }),
    ])
    .exactOptional()
    .describe('How the client proves itself.'),
  scopes: z.array(words()).prefault([]).describe('Scopes asked for.'),
  scopeSeparator: z.enum(['space', 'comma']).exactOptional().describe('What stands between scopes in requests; by default a space (RFC 6749 §3.3).'),
  authorizationParams: z.record(words(), z.string()).prefault({}).describe('Further parameters of the authorization request.'),
  resource: webUrl().exactOptional().describe('The resource that tokens are for (RFC 8707).'),
  discover: z.literal('upstream').exactOptional().describe('The upstream is itself an OAuth-protected MCP server and names its issuer.'),
  expiresAfter: lifetime().exactOptional().describe('The person is asked again after this time.'),
});

const positive = () => z.int().min(1);

const currency = () =>
  z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'an ISO 4217 code such as usd or eur')
    .transform((code) => code.toLowerCase());

const payment = z.strictObject({
  kind: z.literal('payment').describe('Something that the person buys.'),
  ...asked,
  provider: z.enum(['stripe', 'sandbox', 'webhook']).describe('Who takes the money; sandbox is for loopback only.'),
  price: z
    .strictObject({
      amount: positive().describe('In the currency’s minor unit: 500 is 5.00 USD.'),
      currency: currency().describe('An ISO 4217 code.'),
    })
    .describe('What it costs.'),
  grants: z
    .strictObject({
      calls: positive().exactOptional().describe('This many calls.'),
      for: lifetime().exactOptional().describe('For this long.'),
    })
    .describe('What a payment buys: calls, a time, or both.'),
  free: z
    .strictObject({
      calls: positive().describe('This many calls.'),
      per: lifetime().describe('In each such period.'),
    })
    .exactOptional()
    .describe('What nobody has to pay for.'),
  onUnknown: z
    .enum(['capture', 'release'])
    .default('capture')
    .describe('What happens to a call’s price when the client left before the answer was known.'),
});

export const credentials = z.record(key(), z.discriminatedUnion('kind', [apiKey, oauth, payment]));

export const payments = z.strictObject({
  stripe: z
    .strictObject({
      secretKey: secret().describe('The secret API key.'),
      webhookSecret: secret().describe('The signing secret of the webhook endpoint.'),
      apiBase: webUrl().exactOptional().describe('Another address of the API, for a stand-in.'),
    })
    .exactOptional()
    .describe('The account at Stripe.'),
});


/**
 * The section `identity`: who calls. Exactly one of `oauth`, `jwtHeader`, `proxyHeaders` and `local`;
 * that there is exactly one is checked where the meaning of the file is (meaning.ts).
 */
import * as z from 'zod';
import { audience, headerName, issuer, secret, urlPath, webUrl, words } from './values.ts';

const claimName = () => words();

const oauth = z.strictObject({
  issuer: issuer().describe('The identity provider that issues the callers’ access tokens.'),
  audience: audience().exactOptional().describe('What a token’s `aud` must contain; by default publicUrl and the upstream’s path.'),
  subjectClaim: claimName().prefault('sub').describe('The claim that, together with the issuer, identifies a person.'),
  requiredScopes: z.array(words()).prefault([]).describe('Scopes that every access token must have.'),
  advertiseScopes: z.array(words()).prefault([]).describe('Scopes named in the metadata when they read differently there.'),
  jwksUri: webUrl().exactOptional().describe('Where the issuer’s keys are; discovered by default.'),
  introspection: z
    .strictObject({
      clientId: words().describe('The client id with which tokens are introspected.'),
      clientSecret: secret().describe('The secret of that client.'),
    })
    .exactOptional()
    .describe('For opaque access tokens: ask the issuer about each (RFC 7662).'),
  login: z
    .strictObject({
      clientId: words().describe('The client id of the browser login.'),
      clientSecret: secret().exactOptional().describe('The secret of that client; without it the client is public.'),
      scopes: z.array(words()).prefault(['openid', 'profile']).describe('Scopes asked for at login.'),
    })
    .exactOptional()
    .describe('How people log in on the pages, at the same issuer.'),
});

const jwtHeader = z.strictObject({
  header: headerName().describe('The header that carries the signed assertion.'),
  scheme: z.string().prefault('').describe('What stands before the assertion in the header, e.g. Bearer; empty for nothing.'),
  issuer: issuer().describe('Who signs the assertion.'),
  audience: audience().describe('What the assertion’s `aud` must contain.'),
  jwksUri: webUrl().exactOptional().describe('Where the issuer’s keys are; discovered by default.'),
  subjectClaim: claimName().prefault('sub').describe('The claim that, together with the issuer, identifies a person.'),
});

const proxyHeaders = z.strictObject({
  user: headerName().describe('The header in which the trusted proxy names the person.'),
  claims: z.record(words(), headerName()).prefault({}).describe('Further claims, each with the header that carries it.'),
  issuer: words().describe('The name of the identity source; a person is (issuer, user).'),
  secretHeader: headerName().exactOptional().describe('The header in which the proxy proves itself with `secret`.'),
  secret: secret().exactOptional().describe('The secret that the proxy sends in `secretHeader`.'),
  logoutUrl: z
    .union([urlPath(), webUrl().transform((url) => url.href)])
    .exactOptional()
    .describe('Where the proxy logs people out.'),
});

const local = z.strictObject({
  user: words().prefault('me').describe('The name of the one person.'),
  container: z
    .boolean()
    .default(false)
    .describe('The process runs in a container that publishes its port on loopback only, so it may listen on every address.'),
});

const pages = z.strictObject({
  oauth: oauth.exactOptional().describe('People log in at this issuer; keys as in identity.oauth.'),
  jwtHeader: jwtHeader.exactOptional().describe('A proxy before the pages sends a signed assertion; keys as in identity.jwtHeader.'),
  proxyHeaders: proxyHeaders.exactOptional().describe('A trusted proxy before the pages names the person; keys as in identity.proxyHeaders.'),
});

export const identity = z.strictObject({
  oauth: oauth.exactOptional().describe('Callers bring access tokens of an OAuth or OpenID Connect issuer.'),
  jwtHeader: jwtHeader.exactOptional().describe('A proxy in front sends a signed assertion in a header.'),
  proxyHeaders: proxyHeaders.exactOptional().describe('A trusted proxy in front names the caller in a header.'),
  local: local.exactOptional().describe('One person on this machine; forwarded requests are refused.'),
  pages: pages.exactOptional().describe('When browsers are identified otherwise than callers.'),
});

/**
 * `credentials` and `payments`: fields that can be asked for and read, third parties that can be found,
 * prices that someone can take.
 */
import { checkHttps } from './check-identity.ts';
import { isOnThisMachine } from './defaults.ts';
import type { Path } from './problem.ts';
import type { Meaning, Report, Sections } from './sections.ts';

type Credential = NonNullable<Sections['credentials']>[string];
type Kind<K extends Credential['kind']> = Extract<Credential, { kind: K }>;

/** Parameters of an authorization request on which its safety rests. */
const ownParameters = new Set(['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'nonce', 'scope', 'resource', 'code_challenge', 'code_challenge_method', 'request', 'request_uri']);

/** Inputs that the page itself needs. */
const reservedInputs = new Set(['csrf', 'action']);

export function checkCredentials({ sections }: Meaning, report: Report): void {
  for (const [name, credential] of Object.entries(sections.credentials ?? {})) {
    const path = ['credentials', name];
    if (credential.kind === 'apiKey') checkFields(path, credential, report);
    if (credential.kind === 'oauth') checkOauth(path, credential, report);
    if (credential.kind === 'payment') checkPayment(path, credential, sections, report);
  }
}

function checkFields(path: Path, credential: Kind<'apiKey'>, report: Report): void {
  const seen = new Set<string>();
  credential.fields.forEach((field, index) => {
    const at = [...path, 'fields', index, 'name'];
    if (seen.has(field.name)) report(at, `${field.name}, a second time`, 'a name of its own for each field');
    if (reservedInputs.has(field.name)) report(at, `${field.name}, which the page uses itself`, 'another name');
    seen.add(field.name);
  });
}

function checkOauth(path: Path, credential: Kind<'oauth'>, report: Report): void {
  const { issuer, authorizationEndpoint, tokenEndpoint, preset, discover, clientId } = credential;
  const isElsewhere = issuer !== undefined || preset !== undefined || authorizationEndpoint !== undefined || tokenEndpoint !== undefined;
  if (discover !== undefined && isElsewhere) {
    report([...path, 'discover'], 'discover: upstream beside a third party that the file names', 'one of them');
  }
  const isNamed = issuer !== undefined || (preset !== undefined && authorizationEndpoint === undefined);
  if (!isNamed && (authorizationEndpoint === undefined) !== (tokenEndpoint === undefined)) {
    report([...path, authorizationEndpoint === undefined ? 'authorizationEndpoint' : 'tokenEndpoint'], 'missing', 'authorizationEndpoint and tokenEndpoint together');
  }
  const isFound = issuer !== undefined || preset !== undefined || discover !== undefined;
  if (!isFound && authorizationEndpoint === undefined && tokenEndpoint === undefined) {
    report([...path, 'issuer'], 'missing', 'issuer, or authorizationEndpoint and tokenEndpoint, or preset, or discover: upstream');
  }
  if (discover === undefined && clientId === undefined) {
    report([...path, 'clientId'], 'missing', 'the client id that the third party gave to this installation');
  }
  checkClient(path, credential, report);
  if (discover !== undefined && credential.shared) {
    report([...path, 'shared'], 'true, with discover: upstream', 'false: each upstream names its own issuer');
  }
  if (issuer !== undefined) checkHttps([...path, 'issuer'], issuer, report);
  for (const key of ['authorizationEndpoint', 'tokenEndpoint', 'revocationEndpoint'] as const) {
    const url = credential[key];
    if (url !== undefined) checkHttps([...path, key], url.href, report);
  }
}

/** Found out here, and not when a person comes back from the third party. */
function checkClient(path: Path, { clientId, clientSecret, clientAuth, preset, authorizationParams }: Kind<'oauth'>, report: Report): void {
  const method = clientAuth?.method;
  const needsSecret = method === 'client_secret_basic' || method === 'client_secret_post' || (preset !== undefined && method === undefined);
  if (needsSecret && clientSecret === undefined) report([...path, 'clientSecret'], 'missing', `the secret that belongs to clientId${method === undefined ? ', or clientAuth: { method: none } for a public client' : ''}`);
  if (clientSecret !== undefined && (method === 'private_key_jwt' || method === 'none')) report([...path, 'clientAuth'], `clientSecret and clientAuth.method: ${method}`, 'one of them');
  if (clientId === undefined && (clientSecret !== undefined || clientAuth !== undefined)) report([...path, 'clientId'], 'missing', 'the client id to which the secret or key belongs');
  for (const name of Object.keys(authorizationParams).filter((one) => ownParameters.has(one))) {
    report([...path, 'authorizationParams', name], `${name}, which Elicitgate sets itself`, 'another parameter');
  }
}

function checkPayment(path: Path, credential: Kind<'payment'>, { server, payments }: Sections, report: Report): void {
  const { grants, provider } = credential;
  if (grants.calls === undefined && grants.for === undefined) {
    report([...path, 'grants'], 'an empty map', 'calls, for, or both');
  }
  if (provider === 'sandbox' && server !== undefined && !isOnThisMachine(server)) {
    report([...path, 'provider'], 'sandbox behind a public address', 'stripe or webhook; sandbox takes no money and is for loopback only');
  }
  if (provider === 'stripe' && payments?.stripe === undefined) {
    report(['payments', 'stripe'], 'missing', `secretKey and webhookSecret, because ${path.join('.')} has provider: stripe`);
  }
}

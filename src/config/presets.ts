/**
 * Well-known third parties: their addresses, the parameters without which they do not do what is meant, and
 * how a client proves itself there, as each documents it. Everything can be said otherwise in the file.
 */
import type { Text } from './text.ts';

export interface Preset {
  readonly title: Text;
  /** Its addresses are discovered there; with endpoints beside it, what it must call itself in its answers. */
  readonly issuer?: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly authorizationParams?: Readonly<Record<string, string>>;
  readonly scopeSeparator?: 'comma';
  /** By default the secret goes into the header (RFC 6749 §2.3.1). */
  readonly method?: 'client_secret_post';
  /** Needed for a refresh token beside the scopes of the file. */
  readonly offlineScope?: string;
}

export const presetNames = ['github', 'google', 'microsoft', 'slack', 'atlassian', 'linear', 'notion', 'gitlab'] as const;

export const presets: Readonly<Record<(typeof presetNames)[number], Preset>> = {
  github: {
    title: { '': 'GitHub' },
    issuer: 'https://github.com/login/oauth',
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    method: 'client_secret_post',
  },
  google: {
    title: { '': 'Google' },
    issuer: 'https://accounts.google.com',
    // Without these two a second consent brings no refresh token.
    authorizationParams: { access_type: 'offline', prompt: 'consent', include_granted_scopes: 'true' },
  },
  microsoft: {
    title: { '': 'Microsoft' },
    // The issuer of `common` is a pattern with the person's tenant in it, so nothing could be compared with it.
    authorizationEndpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenEndpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    method: 'client_secret_post',
    offlineScope: 'offline_access',
  },
  slack: {
    title: { '': 'Slack' },
    // Tokens of the person, not of a bot.
    authorizationEndpoint: 'https://slack.com/oauth/v2_user/authorize',
    tokenEndpoint: 'https://slack.com/api/oauth.v2.user.access',
    scopeSeparator: 'comma',
    method: 'client_secret_post',
  },
  atlassian: {
    title: { '': 'Atlassian' },
    authorizationEndpoint: 'https://auth.atlassian.com/authorize',
    tokenEndpoint: 'https://auth.atlassian.com/oauth/token',
    authorizationParams: { audience: 'api.atlassian.com', prompt: 'consent' },
    method: 'client_secret_post',
    offlineScope: 'offline_access',
  },
  linear: {
    title: { '': 'Linear' },
    authorizationEndpoint: 'https://linear.app/oauth/authorize',
    tokenEndpoint: 'https://api.linear.app/oauth/token',
    revocationEndpoint: 'https://api.linear.app/oauth/revoke',
    scopeSeparator: 'comma',
    method: 'client_secret_post',
  },
  notion: {
    title: { '': 'Notion' },
    authorizationEndpoint: 'https://api.notion.com/v1/oauth/authorize',
    tokenEndpoint: 'https://api.notion.com/v1/oauth/token',
    revocationEndpoint: 'https://api.notion.com/v1/oauth/revoke',
    authorizationParams: { owner: 'user' },
  },
  gitlab: { title: { '': 'GitLab' }, issuer: 'https://gitlab.com' },
};

/** A credential of kind oauth, as far as a preset can fill it. */
export interface Fillable {
  readonly preset?: keyof typeof presets;
  readonly issuer?: string;
  readonly authorizationEndpoint?: URL;
  readonly tokenEndpoint?: URL;
  readonly revocationEndpoint?: URL;
  readonly scopes: readonly string[];
  readonly authorizationParams: Readonly<Record<string, string>>;
  readonly scopeSeparator?: 'space' | 'comma';
  readonly title?: Text;
  readonly clientSecret?: string;
  readonly clientAuth?: { readonly method: string };
}

/** @returns what the file says, and what its preset says where the file is silent */
export function fillFromPreset<T extends Fillable>(credential: T): T {
  if (credential.preset === undefined) return credential;
  const { title, issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint, authorizationParams, scopeSeparator, method, offlineScope } = presets[credential.preset];
  // Another server of the same kind, such as one's own, is not mixed with the addresses of the preset.
  const isElsewhere = credential.issuer !== undefined || credential.authorizationEndpoint !== undefined;
  const endpoints = isElsewhere ? {} : { issuer, ...urls({ authorizationEndpoint, tokenEndpoint, revocationEndpoint }) };
  const filled = {
    title,
    ...endpoints,
    scopeSeparator,
    clientAuth: method === undefined || credential.clientSecret === undefined ? undefined : { method },
  };
  const scopes = offlineScope === undefined || credential.scopes.length === 0 ? credential.scopes : [...new Set([...credential.scopes, offlineScope])];
  return { ...given(filled), ...credential, scopes, authorizationParams: { ...authorizationParams, ...credential.authorizationParams } };
}

function urls(endpoints: Readonly<Record<string, string | undefined>>): Readonly<Record<string, URL | undefined>> {
  return Object.fromEntries(Object.entries(endpoints).map(([key, url]) => [key, url === undefined ? undefined : new URL(url)]));
}

function given(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

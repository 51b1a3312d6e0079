/** What a token answer grants, as it is stored. */
import type * as openid from 'openid-client';
import type { Grant, OauthClient, Secret } from '../../vault/secrets.ts';
import { scopesIn } from './protected-resource.ts';

export interface Granted {
  readonly fields: Secret['fields'];
  readonly grant: Grant;
}

interface Asked {
  readonly issuer: string;
  readonly client?: OauthClient | undefined;
  /** What was asked for: an answer that names no scopes grants these (RFC 6749 §5.1). */
  readonly scopes: readonly string[];
  readonly resource?: string | undefined;
}

/** A token is renewed this long before its end, or when a tenth of its life is left. */
const earlierMs = 60_000;

/**
 * @param before fields that stay where the answer is silent: a refresh token that is not replaced is still good
 * @param time of the answer, in milliseconds since the epoch
 */
export function grantedFrom(tokens: openid.TokenEndpointResponse, asked: Asked, before: Secret['fields'] | undefined, time: number): Granted {
  const refreshToken = tokens.refresh_token ?? before?.['refresh_token'];
  const idToken = tokens.id_token ?? before?.['id_token'];
  const scopes = tokens.scope === undefined ? asked.scopes : scopesIn(tokens.scope);
  const lifeMs = tokens.expires_in === undefined ? undefined : tokens.expires_in * 1_000;
  return {
    fields: {
      access_token: tokens.access_token,
      token_type: 'Bearer',
      scope: scopes.join(' '),
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      ...(idToken === undefined ? {} : { id_token: idToken }),
    },
    grant: {
      issuer: asked.issuer,
      issuedAt: time,
      scopes,
      ...(asked.client === undefined ? {} : { client: asked.client }),
      ...(asked.resource === undefined ? {} : { resource: asked.resource }),
      ...(lifeMs === undefined ? {} : { renewAt: time + lifeMs - Math.min(earlierMs, lifeMs / 10), endsAt: time + lifeMs }),
    },
  };
}

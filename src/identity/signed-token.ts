/**
 * A signed token of an issuer (RFC 7519): its signature by one of the issuer's keys, with asymmetric
 * algorithms only, and its issuer, audience and times.
 */
import { decodeJwt, errors, jwtVerify, type JWTHeaderParameters, type JWTPayload, type JWTVerifyOptions, type JWTVerifyResult } from 'jose';
import { err, ok, type Result } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import { clockToleranceSeconds } from './claims.ts';
import type { Issuer } from './issuer.ts';

export interface SignedToken {
  readonly claims: JWTPayload;
  readonly header: JWTHeaderParameters;
}

/** `invalid`: the token is bad; `unavailable`: that cannot be known now. */
export interface TokenFault {
  readonly fault: 'invalid' | 'unavailable';
  /** For the log. */
  readonly why: string;
}

/** Asymmetric only: with a symmetric one, the public key would be the secret. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const longestLogged = 200;

/** Keys of an issuer that a token without a key id is tried with. */
const triedKeys = 16;

/** @param audience of which the token must name one; absent: any, for the caller to judge */
export async function verifySigned(token: string, issuer: Issuer, now: Clock, audience?: readonly string[]): Promise<Result<SignedToken, TokenFault>> {
  try {
    const { payload, protectedHeader } = await verifyWithAny(token, issuer, {
      issuer: issuer.issuer,
      algorithms,
      currentDate: new Date(now()),
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'aud', 'iss'],
      ...(audience === undefined ? {} : { audience: [...audience] }),
    });
    return ok({ claims: payload, header: protectedHeader });
  } catch (error) {
    const isTokenBad = error instanceof errors.JOSEError;
    return err(isTokenBad ? { fault: 'invalid', why: error.code } : { fault: 'unavailable', why: 'the issuer cannot be asked' });
  }
}

/** A token need not say which key signed it (RFC 7515 §4.1.4); then each that it could be is tried. */
async function verifyWithAny(token: string, issuer: Issuer, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, issuer.key, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return tryEach(token, error, options);
  }
}

async function tryEach(token: string, keys: errors.JWKSMultipleMatchingKeys, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  let tried = 0;
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
    tried += 1;
    if (tried === triedKeys) break;
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/** What a token says of itself, unverified and cut: only for the line that helps an operator to see what is wrong. */
export function claimsForLog(token: string): { readonly foundIssuer?: string; readonly foundAudience?: string } {
  try {
    const { iss, aud } = decodeJwt(token);
    return { ...(iss === undefined ? {} : { foundIssuer: cut(iss) }), ...(aud === undefined ? {} : { foundAudience: cut(aud) }) };
  } catch {
    return {};
  }
}

function cut(value: unknown): string {
  return (Array.isArray(value) ? value.map(String).join(' ') : String(value)).slice(0, longestLogged);
}

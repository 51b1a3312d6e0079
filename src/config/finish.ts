/**
 * From the parsed file to the configuration: names, titles, paths and addresses that follow from
 * others, and the digest by which a stored secret still fits.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { readCatalogue } from './catalogue.ts';
import type { Config, Credential, Upstream } from './config.ts';
import { publicUrlOf, upstreamPath } from './defaults.ts';
import { logoType } from './files.ts';
import { fillFromPreset } from './presets.ts';
import type { ParsedFile } from './schema.ts';

type ParsedCredential = ParsedFile['credentials'][string];

/** @param folder the absolute folder from which the store's default path counts */
export function finish(file: ParsedFile, folder: string): Config {
  const { server, vault, pages } = file;
  const { logo, ...otherPages } = pages;
  const mediaType = logo === undefined ? undefined : logoType(logo);
  return {
    ...file,
    server: { ...server, publicUrl: publicUrlOf(server) },
    vault: vault.store.kind === 'sqlite' ? { ...vault, store: { kind: 'sqlite', path: resolve(folder, vault.store.path) } } : vault,
    credentials: mapRecord(file.credentials, finishCredential),
    upstreams: mapRecord(file.upstreams, (name, { catalogue, ...upstream }): Upstream => ({
      ...upstream,
      ...catalogueOf(catalogue),
      name,
      title: upstream.title ?? { '': name },
      path: upstreamPath(name, upstream),
    })),
    pages: logo === undefined || mediaType === undefined ? otherPages : { ...otherPages, logo: { path: logo, mediaType } },
  };
}

/** An upstream that refuses even `initialize` without a credential needs one on every request. */
function catalogueOf(path: string | undefined) {
  if (path === undefined) return undefined;
  const catalogue = readCatalogue(path);
  // The file was read without a fault a moment ago.
  if (!catalogue.ok) throw new Error(`the catalogue ${path} is not ${catalogue.error}`);
  return { attach: 'always' as const, catalogue: catalogue.value };
}

/** Records without a prototype, so that a looked-up name is only ever one that the file gave. */
function mapRecord<From, To>(record: Readonly<Record<string, From>>, map: (name: string, value: From) => To): Readonly<Record<string, To>> {
  const result = Object.create(null) as Record<string, To>;
  for (const [name, value] of Object.entries(record)) result[name] = map(name, value);
  return result;
}

function finishCredential(name: string, credential: ParsedCredential): Credential {
  const added = { name, title: credential.title ?? { '': name }, shape: shapeOf(credential) };
  if (credential.kind === 'oauth') {
    const filled = fillFromPreset(credential);
    return { ...filled, ...added, title: filled.title ?? added.title };
  }
  if (credential.kind !== 'apiKey') return { ...credential, ...added };
  return { ...credential, ...added, fields: credential.fields.map((field) => ({ ...field, label: field.label ?? { '': field.name } })) };
}

/**
 * What makes a stored secret of a credential fit: its kind, the names of its fields and, for a connected
 * account, who issued it to which client for which scopes. Not how it is called or explained.
 *
 * @returns 128 bits, base64url
 */
export function shapeOf(credential: ParsedCredential): string {
  return createHash('sha256').update(JSON.stringify(substance(credential))).digest('base64url').slice(0, 22);
}

function substance(credential: ParsedCredential): readonly unknown[] {
  switch (credential.kind) {
    case 'apiKey':
      return ['apiKey', credential.fields.map((field) => field.name).sort()];
    case 'oauth': {
      const { preset, issuer, authorizationEndpoint, tokenEndpoint, clientId, scopes, resource, discover } = credential;
      const parties = [preset, issuer, authorizationEndpoint?.href, tokenEndpoint?.href, clientId, resource?.href, discover];
      return ['oauth', parties.map((party) => party ?? null), [...scopes].sort()];
    }
    case 'payment':
      return ['payment'];
  }
}

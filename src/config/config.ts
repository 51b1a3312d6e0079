/**
 * The loaded configuration: the file's own key names, every default filled in, durations in
 * milliseconds, sizes in bytes, everything compiled. Nothing here changes after loading.
 */
import type { Catalogue } from './catalogue.ts';
import type { ParsedFile } from './schema.ts';
import type { Text } from './text.ts';

type Leaf = string | number | boolean | null | undefined | URL | Buffer | ((...args: never[]) => unknown) | ReadonlySet<string>;

type Frozen<T> = T extends Leaf ? T : T extends readonly (infer Item)[] ? readonly Frozen<Item>[] : { readonly [K in keyof T]: Frozen<T[K]> };

type ParsedCredential = ParsedFile['credentials'][string];
type ParsedUpstream = ParsedFile['upstreams'][string];
type ParsedField = Extract<ParsedCredential, { kind: 'apiKey' }>['fields'][number];

/** Adds keys to each member of a union, in place of its own of the same name. */
type With<T, Added> = T extends unknown ? Omit<T, keyof Added> & Added : never;

export type Field = Frozen<With<ParsedField, { label: Text }>>;

interface CredentialAdded {
  /** Its key in the file. */
  name: string;
  title: Text;
  /** A digest of what makes a stored secret of this credential fit: changed, the person is asked again. */
  shape: string;
}

export type Inject = Frozen<ParsedCredential['inject']>;

export type ApiKeyCredential = Frozen<
  With<Extract<ParsedCredential, { kind: 'apiKey' }>, CredentialAdded & { fields: Field[] }>
>;
export type OauthCredential = Frozen<With<Extract<ParsedCredential, { kind: 'oauth' }>, CredentialAdded>>;
export type PaymentCredential = Frozen<With<Extract<ParsedCredential, { kind: 'payment' }>, CredentialAdded>>;
export type Credential = ApiKeyCredential | OauthCredential | PaymentCredential;

interface UpstreamAdded {
  catalogue?: Catalogue;
  /** Its key in the file. */
  name: string;
  title: Text;
  /** Where it answers below publicUrl. */
  path: string;
}

export type HttpUpstream = Frozen<With<Extract<ParsedUpstream, { url: URL }>, UpstreamAdded>>;
export type StdioUpstream = Frozen<With<Extract<ParsedUpstream, { command: string }>, UpstreamAdded>>;
export type Upstream = HttpUpstream | StdioUpstream;
export type Rule = Upstream['rules'][number];
export type Requirement = Rule['requires'][number];

export interface Logo {
  readonly path: string;
  readonly mediaType: 'image/svg+xml' | 'image/png' | 'image/jpeg';
}

type Section<K extends keyof ParsedFile> = Frozen<ParsedFile[K]>;

export type Config = Omit<Frozen<ParsedFile>, 'server' | 'credentials' | 'upstreams' | 'pages'> & {
  readonly server: Omit<Section<'server'>, 'publicUrl'> & { readonly publicUrl: URL };
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly pages: Omit<Section<'pages'>, 'logo'> & { readonly logo?: Logo };
};

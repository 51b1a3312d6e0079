/**
 * What the schema says about a place in the file, for messages: which keys it knows there, what a key
 * is for, and whether a secret can stand there. Read from the JSON Schema, so that there is nothing
 * to keep in step; only built when something is wrong.
 */
import { plainSchema, type JsonSchema } from './json-schema.ts';
import type { Path } from './problem.ts';

export interface Hints {
  /** The keys that can stand in the map at this path. */
  readonly keysAt: (path: Path) => readonly string[];
  /** For a key that only another variant of the map has: what would have to stand there, e.g. `transport: stdio`. */
  readonly otherVariant: (path: Path, key: string) => string | undefined;
  readonly descriptionOf: (path: Path) => string | undefined;
  /** Whether the value at this path is a secret or may hold one. */
  readonly isSecret: (path: Path) => boolean;
}

/** @param plain the file as plain data, by which the variants of a map are told apart */
export function hintsFor(plain: unknown): Hints {
  const root = plainSchema();
  return {
    keysAt: (path) => unique(schemasAt(root, plain, path).flatMap((schema) => Object.keys(schema.properties ?? {}))),
    otherVariant: (path, key) => otherVariant(schemasAt(root, undefined, path), key),
    descriptionOf: (path) => schemasAt(root, plain, path).find((schema) => schema.description !== undefined)?.description,
    isSecret: (path) =>
      path.some((_, index) => schemasAt(root, plain, path.slice(0, index)).some((schema) => schema.writeOnly === true)) ||
      schemasAt(root, plain, path).some(holdsSecret),
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** All schemas that may apply at the path: the variants that the data rules out are left out. */
function schemasAt(root: JsonSchema, plain: unknown, path: Path): readonly JsonSchema[] {
  let data: unknown = plain;
  let schemas = variants(root, data);
  for (const step of path) {
    data = typeof data === 'object' && data !== null ? (data as Record<string | number, unknown>)[step] : undefined;
    schemas = schemas.flatMap((schema) => below(schema, step)).flatMap((schema) => variants(schema, data));
  }
  return schemas;
}

function below(schema: JsonSchema, step: string | number): readonly JsonSchema[] {
  if (typeof step === 'number') return schema.items === undefined ? [] : [schema.items];
  const known = schema.properties !== undefined && Object.hasOwn(schema.properties, step) ? schema.properties[step] : undefined;
  if (known !== undefined) return [known];
  return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
}

/** The schema itself, and what it is one of. */
function variants(schema: JsonSchema, data: unknown): readonly JsonSchema[] {
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const fitting = options.filter((option) => !isRuledOut(option, data));
  return [schema, ...(fitting.length > 0 ? fitting : options).flatMap((option) => variants(option, data))];
}

function isRuledOut(schema: JsonSchema, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return Object.entries(schema.properties ?? {}).some(([key, property]) => {
    const allowed = property.const !== undefined ? [property.const] : property.enum;
    const isTag = property.const !== undefined || schema.required?.includes(key) === true || property.default !== undefined;
    if (allowed === undefined || !isTag) return false;
    const value = (data as Record<string, unknown>)[key] ?? property.default;
    return value !== undefined ? !allowed.includes(value) : schema.required?.includes(key) === true;
  });
}

function otherVariant(schemas: readonly JsonSchema[], key: string): string | undefined {
  const schema = schemas.find((variant) => variant.properties !== undefined && Object.hasOwn(variant.properties, key));
  const tag = Object.entries(schema?.properties ?? {}).find(([, property]) => property.const !== undefined || property.enum !== undefined);
  if (tag === undefined) return undefined;
  return `${tag[0]}: ${String(tag[1].const ?? tag[1].enum?.[0])}`;
}

function holdsSecret(schema: JsonSchema): boolean {
  if (schema.writeOnly === true) return true;
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ];
  return parts.some(holdsSecret);
}

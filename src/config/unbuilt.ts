/**
 * What a file may say and `serve` cannot do yet. A row is a place in the configuration; when something
 * stands there, `serve` refuses to start and names it. Building a part deletes its rows.
 */
import type { Config } from './config.ts';

export interface Unbuilt {
  /** The dotted path of the key. */
  readonly path: string;
  readonly message: string;
}

interface Row {
  /** A dotted path; `*` stands for every name or list position. */
  readonly where: string;
  /** The values (or kinds of value) that are not built; without it, any value. */
  readonly values?: readonly unknown[];
  readonly instead?: string;
}

export const unbuiltRows: readonly Row[] = [
  { where: 'server.advertise' },
  { where: 'credentials.*.kind', values: ['payment'], instead: 'apiKey or oauth' },
  { where: 'payments' },
  { where: 'telemetry' },
];

/** @returns every part of the configuration that `serve` cannot run yet */
export function unbuilt(config: Config): readonly Unbuilt[] {
  return unbuiltRows.flatMap(({ where, values, instead }) =>
    placesAt(config, where.split('.'))
      .filter(({ value }) => (values === undefined ? isGiven(value) : values.includes(kindOf(value))))
      .map(({ path, value }) => ({ path, message: sentence(path, values === undefined ? undefined : String(kindOf(value)), instead) })),
  );
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : value;
}

function sentence(path: string, value: string | undefined, instead: string | undefined): string {
  const what = value === undefined ? path : `${path}: ${value}`;
  return `${what} is understood, but this version cannot run it yet${instead === undefined ? '; leave it out' : `; use ${instead}`}`;
}

function isGiven(value: unknown): boolean {
  if (value === undefined) return false;
  return typeof value !== 'object' || value === null || value instanceof URL || Object.keys(value).length > 0;
}

function placesAt(value: unknown, steps: readonly string[], path = ''): readonly { readonly path: string; readonly value: unknown }[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  const keys = step === '*' ? Object.keys(value) : Object.keys(value).filter((key) => key === step);
  return keys.flatMap((key) => {
    const next = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    return placesAt((value as Record<string, unknown>)[key], rest, next);
  });
}

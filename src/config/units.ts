/**
 * The units of the file: durations (`500ms`, `30s`, `15m`, `12h`, `90d`) become milliseconds, sizes
 * (`4MiB`) bytes, rates (`30/10m`) a count per milliseconds. Whole numbers only, always with a unit:
 * a bare number says nothing about what it counts.
 */
import { err, ok, type Result } from '../errors.ts';

export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

export const durationPattern = '^\\d{1,12}(ms|s|m|h|d)$';
export const sizePattern = '^\\d{1,9}(B|KiB|MiB|GiB)$';
export const ratePattern = '^\\d{1,9}/\\d{1,12}(ms|s|m|h|d)$';

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizeUnits: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

const aDuration = 'a duration such as 500ms, 30s, 15m, 12h or 90d';
const aSize = 'a size such as 512KiB, 4MiB or 1GiB';
const aRate = 'a rate such as 30/10m (a count of at least 1, a slash and a duration of at least 1ms)';

/** @returns milliseconds, or the words for what would be right */
export function parseDuration(text: string): Result<number, string> {
  return parseQuantity(text, durationPattern, durationUnits, aDuration);
}

/** @returns bytes, or the words for what would be right */
export function parseSize(text: string): Result<number, string> {
  return parseQuantity(text, sizePattern, sizeUnits, aSize);
}

/** @returns how many in how many milliseconds, or the words for what would be right */
export function parseRate(text: string): Result<Rate, string> {
  const [count = '', ...rest] = text.split('/');
  const perMs = parseDuration(rest.join('/'));
  if (!/^\d{1,9}$/.test(count) || !perMs.ok) return err(aRate);
  if (Number(count) === 0 || perMs.value === 0) return err(aRate);
  return ok({ count: Number(count), perMs: perMs.value });
}

function parseQuantity(
  text: string,
  pattern: string,
  units: Readonly<Record<string, number>>,
  right: string,
): Result<number, string> {
  if (!new RegExp(pattern).test(text)) return err(right);
  const digits = /^\d+/.exec(text)?.[0] ?? '';
  const value = Number(digits) * (units[text.slice(digits.length)] ?? Number.NaN);
  return Number.isSafeInteger(value) ? ok(value) : err(right);
}

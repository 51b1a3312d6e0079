/** How a length of time and a day read in a sentence, in the visitor's language. */

const units = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;

const readableLimit = 120;

/**
 * @param durationMs a positive length of time in milliseconds
 * @param language a language code
 * @returns for example "90 days" or "36 hours": the largest unit that says it exactly, or, where that
 *   would be a number above 120, the next larger one, rounded up
 */
export function durationIn(language: string, durationMs: number): string {
  const wholeSeconds = Math.max(1, Math.ceil(durationMs / 1_000)) * 1_000;
  const exact = units.findIndex(({ ms }) => wholeSeconds % ms === 0);
  for (let index = exact; ; index--) {
    const { unit, ms } = units[index] ?? units[0];
    const count = Math.ceil(wholeSeconds / ms);
    if (count <= readableLimit || index <= 0) {
      return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
    }
  }
}

/** The day of a moment (UTC), in the calendar of the language. @param time milliseconds since the epoch */
export function dayIn(language: string, time: number): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(time);
}

/**
 * Patterns of the file: RE2 syntax through re2js, so matching time is linear in the text, which may be
 * hostile. A pattern is found anywhere in the text unless it is anchored with `^` and `$`.
 */
import { RE2JS } from 're2js';
import { err, ok, type Result } from '../errors.ts';

export interface Pattern {
  readonly source: string;
  /** @returns whether the pattern is found in the text */
  readonly test: (text: string) => boolean;
}

/** @returns the compiled pattern, or the words for what would be right */
export function parsePattern(source: string): Result<Pattern, string> {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch {
    return err('a pattern in RE2 syntax (no look-around, no back-references; a leading (?i) ignores case)');
  }
  return ok({ source, test: (text) => compiled.test(text) });
}

/**
 * Collecting a key: what a person typed, turned into the fields of a secret, or the reason why not. Pure:
 * nothing is stored or sent here. Surrounding space and line breaks are cut off; a value pasted together
 * with what the file's template puts in front of it ("Bearer x") is understood; what could not stand in
 * its header is refused before anything is kept.
 */
import type { Template } from '../config/template.ts';
import { err, ok, type Result } from '../errors.ts';

export type FieldProblem = 'empty' | 'pattern' | 'unusable' | 'too-long';

export interface CollectedField {
  readonly name: string;
  readonly secret: boolean;
  readonly multiline: boolean;
  readonly pattern?: { readonly test: (text: string) => boolean };
}

export interface Collected {
  /** Values as they will be stored, by field. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Problems by field name; the values, cleaned, for showing those that are no secret again. */
export interface Uncollected extends Collected {
  readonly problems: Readonly<Record<string, FieldProblem>>;
}

/** A header line beyond this is refused by most servers. */
const longestHeaderValue = 8_192;
const longestField = 65_536;

/**
 * @param fields as in the file
 * @param headers what will be put into request headers
 * @param form the submitted form, by field name
 */
export function collectApiKey(
  fields: readonly CollectedField[],
  headers: readonly { readonly name: string; readonly value: Template }[],
  form: Readonly<Record<string, unknown>>,
): Result<Collected, Uncollected> {
  const values: Record<string, string> = {};
  const problems: Record<string, FieldProblem> = {};
  for (const field of fields) {
    const value = clean(field, headers, form[field.name]);
    values[field.name] = value;
    const problem = problemOf(field, value);
    if (problem !== undefined) problems[field.name] = problem;
  }
  for (const header of headers) {
    if (header.value.fields.some((name) => problems[name] !== undefined)) continue;
    const problem = headerProblem(header.value.render(values));
    if (problem === undefined) continue;
    for (const name of header.value.fields) problems[name] = problem;
  }
  return Object.keys(problems).length === 0 ? ok({ fields: values }) : err({ fields: values, problems });
}

function clean(field: CollectedField, headers: readonly { readonly name: string; readonly value: Template }[], typed: unknown): string {
  if (typeof typed !== 'string') return '';
  // Browsers send line breaks as CRLF; keys of several lines are made with LF.
  let value = typed.replaceAll('\r\n', '\n').trim();
  for (const header of headers) value = withoutPrefix(value, header.name, literalBefore(header.value.source, field.name));
  return value;
}

/** The literal text that a template puts in front of a field, when the template is that and the field. */
function literalBefore(source: string, field: string): string | undefined {
  const suffix = `{${field}}`;
  const before = source.endsWith(suffix) ? source.slice(0, -suffix.length) : undefined;
  return before === undefined || /[{}]/.test(before) ? undefined : before.trim();
}

function withoutPrefix(value: string, header: string, before: string | undefined): string {
  if (before === undefined) return value;
  const headerName = value.slice(0, header.length + 1).toLowerCase() === `${header.toLowerCase()}:` ? value.slice(header.length + 1).trim() : value;
  if (before === '' || headerName.slice(0, before.length).toLowerCase() !== before.toLowerCase()) return headerName;
  const rest = headerName.slice(before.length);
  // "Bearer x" is the prefix and a key; "Bearerx" may be a key.
  return /^\s/.test(rest) ? rest.trim() : headerName;
}

const controls = /\p{Cc}/u;
const controlsButLines = /[^\P{Cc}\n\t]/u;

function problemOf(field: CollectedField, value: string): FieldProblem | undefined {
  if (value === '') return 'empty';
  if (value.length > longestField) return 'too-long';
  if (!value.isWellFormed() || (field.multiline ? controlsButLines : controls).test(value)) return 'unusable';
  return field.pattern === undefined || field.pattern.test(value) ? undefined : 'pattern';
}

/** Printable ASCII: what every server reads alike (RFC 9110 §5.5). */
function headerProblem(value: string): FieldProblem | undefined {
  if (value.length > longestHeaderValue) return 'too-long';
  return /^[\x20-\x7e]*$/.test(value) ? undefined : 'unusable';
}

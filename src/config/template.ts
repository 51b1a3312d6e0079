/**
 * Templates of the file: `{field}`, `{base64(a:b)}` (each name a field, the rest literal),
 * `{json(field)}`; `{{` and `}}` are literal braces. A template is compiled once, when the file is
 * read, and never reads a value as a template.
 */
import { err, ok, type Result } from '../errors.ts';

export interface Template {
  readonly source: string;
  /** The names of all fields that it reads, each once, in order of appearance. */
  readonly fields: readonly string[];
  /**
   * @param values one value for each of `fields`
   * @throws Error when a field has no value: the caller asked for a secret of another shape
   */
  readonly render: (values: Readonly<Record<string, string>>) => string;
}

type Values = Readonly<Record<string, string>>;
type Part = (values: Values) => string;

const name = '[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?';
const plain = new RegExp(`^${name}$`);
const json = new RegExp(`^json\\((${name})\\)$`);
const base64 = /^base64\(([^()]+)\)$/;

/** What a field may be called, so that a template can name it. */
export const fieldNamePattern = `^${name}$`;

const right =
  'a template such as "Bearer {token}", "Basic {base64(user:password)}" or "{json(token)}", with {{ and }} for literal braces';

/** @returns the compiled template, or the words for what would be right */
export function parseTemplate(source: string): Result<Template, string> {
  const parts: Part[] = [];
  const fields = new Set<string>();
  let at = 0;
  while (at < source.length) {
    const brace = nextBrace(source, at);
    if (brace > at) parts.push(literal(source.slice(at, brace)));
    if (brace === source.length) break;
    if (source[brace + 1] === source[brace]) {
      parts.push(literal(source.slice(brace, brace + 1)));
      at = brace + 2;
      continue;
    }
    const end = source.indexOf('}', brace);
    const part = source[brace] === '{' && end > 0 ? parseExpression(source.slice(brace + 1, end), fields) : undefined;
    if (part === undefined) return err(right);
    parts.push(part);
    at = end + 1;
  }
  return ok({ source, fields: [...fields], render: (values) => join(parts, values) });
}

function nextBrace(source: string, from: number): number {
  const offset = source.slice(from).search(/[{}]/);
  return offset < 0 ? source.length : from + offset;
}

function parseExpression(text: string, fields: Set<string>): Part | undefined {
  if (plain.test(text)) return field(text, fields);
  const jsonField = json.exec(text)?.[1];
  if (jsonField !== undefined) {
    const part = field(jsonField, fields);
    return (values) => JSON.stringify(part(values));
  }
  const inner = base64.exec(text)?.[1];
  if (inner === undefined) return undefined;
  const parts = inner.split(new RegExp(`(${name})`)).map((piece) => (plain.test(piece) ? field(piece, fields) : literal(piece)));
  return (values) => Buffer.from(join(parts, values), 'utf8').toString('base64');
}

function field(fieldName: string, fields: Set<string>): Part {
  fields.add(fieldName);
  return (values) => {
    if (!Object.hasOwn(values, fieldName)) throw new Error(`a template reads the field ${fieldName}, which has no value`);
    return values[fieldName] ?? '';
  };
}

function literal(text: string): Part {
  return () => text;
}

function join(parts: readonly Part[], values: Values): string {
  return parts.map((part) => part(values)).join('');
}

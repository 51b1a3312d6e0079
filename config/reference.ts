/**
 * Writes what is made from the definitions that validate the file: `elicitgate.schema.json` beside this
 * script and `docs/configuration.md`. Run it after a change of src/config: `node config/reference.ts`.
 */
import { writeFileSync } from 'node:fs';
import { jsonSchema, plainSchema, type JsonSchema } from '../src/config/json-schema.ts';
import { unbuiltRows } from '../src/config/unbuilt.ts';
import { durationPattern, ratePattern, sizePattern } from '../src/config/units.ts';

const preface = `# The configuration file

<!-- Made by \`node config/reference.ts\` from the definitions that validate the file. -->

One YAML file describes everything. Start from [minimal.yaml](../config/minimal.yaml); [example.yaml](../config/example.yaml) shows all that can be said. Editors help when the first line of the file is \`# yaml-language-server: $schema=elicitgate.schema.json\` with the path or address of that [schema](../config/elicitgate.schema.json); \`elicitgate schema\` prints it. \`elicitgate check --offline -c FILE\` reads a file and prints every problem.

## How it is read

- **Files.** \`./elicitgate.yaml\` unless \`-c\` names files or folders (of a folder, every \`.yaml\` and \`.yml\` file). Maps of several files are merged at every depth; a key given twice is an error, so \`version: 1\` stands in one of them. Relative paths count from the file in which they stand. What a file names must exist, except the store's file; of an audit file the folder must.
- **Keys.** An unknown key is an error. Keys that begin with \`x-\` are yours: a place for anchors, which work, as merge keys (\`<<\`) do.
- **Problems.** All are reported together, each as \`FILE:LINE:COLUMN key.path: what was found; what would be right\`. Nothing starts on an invalid file.
- **Values from outside.** \`\${NAME}\` is an environment variable, \`\${NAME:-default}\` has a default for one that is not set or empty, \`\${file:/run/secrets/x}\` is a file's content without its trailing newline, and \`$\${\` is a literal \`\${\`. They are taken after the YAML is read, in texts only: where the file wants a number or a yes or no, write it. What is put in is not read again, except that braces in a template keep their meaning there.
- **Secrets** and values from outside print as \`[set]\`.
- **Durations** are \`500ms\`, \`30s\`, \`15m\`, \`12h\`, \`90d\`; **sizes** \`512KiB\`, \`4MiB\`, \`1GiB\`; **rates** \`30/10m\`; **money** is in the currency's minor unit.
- **Patterns** are RE2 (\`(?i)\` in front ignores case; no look-around); one is found anywhere in the text unless anchored with \`^\` and \`$\`.
- **Globs**: \`*\` is any run, \`?\` one character, a leading \`!\` takes names out again. A list is read from left to right; the last entry that matches decides.
- **Texts for people** are one text or a map by language: \`{ en: Key, de: Schlüssel }\`.
- **Templates**: \`{field}\`, \`{base64(user:password)}\` (each name a field, the rest literal), \`{json(field)}\`; \`{{\` and \`}}\` are literal braces. The fields are those of the credential; \`access_token\`, \`id_token\`, \`token_type\` and \`scope\` of a connected account; \`receipt\` of a payment.

Some parts can be written already, and are checked, but \`elicitgate serve\` refuses to start with them in this version. They are marked **not yet** below.
`;

/** @returns the text of docs/configuration.md */
export function referencePage(): string {
  const root = plainSchema();
  const sections = Object.entries(root.properties ?? {}).map(([name, schema]) => section(name, schema, root.required?.includes(name) === true));
  return `${preface}\n${sections.join('\n')}`;
}

/** @returns the text of config/elicitgate.schema.json */
export function schemaFile(): string {
  return `${JSON.stringify(jsonSchema(), null, 2)}\n`;
}

function section(name: string, schema: JsonSchema, isRequired: boolean): string {
  const variants = typeof schema.additionalProperties === 'object' ? (schema.additionalProperties.oneOf ?? []) : [];
  const title = `## \`${name}\`\n\n${schema.description ?? ''}${isRequired ? ' Required.' : ''}${mark(notYet([name]))}\n`;
  if (variants.length > 0) return `${title}\n${variantTables(name, variants)}`;
  if (schema.properties === undefined) return `${title}\n${typeWords(schema)}.\n`;
  return `${title}\n${table(rows(schema, [name]))}`;
}

/** What all variants have, then what each has of its own. */
function variantTables(name: string, variants: readonly JsonSchema[]): string {
  const all = variants.map((variant) => rows(variant, [name, '*']));
  const isShared = (row: RowText) => all.every((some) => some.some((other) => JSON.stringify(other) === JSON.stringify(row)));
  const shared = `### Every \`${name}.NAME\`\n\n${table((all[0] ?? []).filter(isShared))}`;
  const own = variants.map((variant, index) => variantTable(name, variant, (all[index] ?? []).filter((row) => !isShared(row))));
  return [shared, ...own].join('\n');
}

function variantTable(name: string, variant: JsonSchema, own: readonly RowText[]): string {
  const [tag, schema] = Object.entries(variant.properties ?? {}).find(([, property]) => tagValues(property).length > 0) ?? [];
  const values = tagValues(schema);
  const unready = values.filter((value) => unbuiltRows.some((row) => row.where === `${name}.*.${tag}` && row.values?.includes(value) === true));
  const heading = `### \`${name}.NAME\` with \`${tag}: ${values.join(' | ')}\``;
  const note = unready.length === values.length ? '\n\n**Not yet.**' : unready.length > 0 ? `\n\n**Not yet:** ${unready.join(', ')}.` : '';
  return `${heading}${note}\n\n${table(own)}`;
}

function tagValues(schema: JsonSchema | undefined): readonly string[] {
  if (typeof schema?.const === 'string') return [schema.const];
  return schema?.enum?.includes('streamable-http') === true ? schema.enum.map(String) : [];
}

interface RowText {
  readonly key: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly fallback: unknown;
  readonly text: string;
}

function table(all: readonly RowText[]): string {
  // Variants of one map may share a key.
  const once = new Map(all.map((row) => [row.key, row]));
  const lines = [...once.values()].map(({ key, type, isRequired, fallback, text }) => {
    const value = isRequired ? 'required' : fallback === undefined || isEmpty(fallback) ? '' : `\`${plainValue(fallback)}\``;
    return `| \`${key}\` | ${type} | ${value} | ${text} |`;
  });
  return ['| key | value | default | meaning |', '|---|---|---|---|', ...lines, ''].join('\n');
}

/** One row for each key, keys of nested maps and lists under their dotted path. */
function rows(schema: JsonSchema, path: readonly string[], shown: string = ''): readonly RowText[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const at = [...path, key];
    const name = `${shown}${key}`;
    const row: RowText = {
      key: name,
      type: typeWords(child),
      isRequired: schema.required?.includes(key) === true,
      fallback: child.default,
      text: cell(`${child.description ?? ''}${mark(notYet(at, child))}`),
    };
    return [row, ...below(child, at, name)];
  });
}

/** Maps whose keys are those of another map, which their description names. */
const likeAnother = /^identity\.pages\.|\.(unless|claims)$|^upstreams\.\*\.inject$/;

function below(schema: JsonSchema, path: readonly string[], shown: string): readonly RowText[] {
  if (likeAnother.test(path.join('.'))) return [];
  const items = schema.items === undefined ? [] : below(schema.items, [...path, '*'], `${shown}[]`);
  const values = typeof schema.additionalProperties === 'object' ? below(schema.additionalProperties, [...path, '*'], `${shown}.NAME`) : [];
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((variant) => below(variant, path, shown));
  const own = rows(schema, path, `${shown}.`);
  return [...own, ...items, ...values, ...variants];
}

function typeWords(schema: JsonSchema): string {
  if (schema.const === '') return 'empty';
  if (schema.const !== undefined) return `\`${plainValue(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${plainValue(value)}\``).join(', ');
  if (schema.pattern === durationPattern) return 'duration';
  if (schema.pattern === sizePattern) return 'size';
  if (schema.pattern === ratePattern) return 'rate';
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeWords))].join(' or ');
  switch (schema.type) {
    case 'array':
      return `list of ${schema.items === undefined ? 'values' : typeWords(schema.items)}`;
    case 'object':
      return schema.propertyNames === undefined || schema.properties !== undefined ? 'map' : mapWords(schema);
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return schema.writeOnly === true ? 'secret text' : 'text';
    case 'null':
      return 'null';
    default:
      return 'any value';
  }
}

function mapWords(schema: JsonSchema): string {
  const isByLanguage = schema.propertyNames?.pattern?.startsWith('^[A-Za-z]{2,3}') === true;
  if (isByLanguage) return 'map by language';
  return typeof schema.additionalProperties === 'object' ? `map of ${typeWords(schema.additionalProperties)}` : 'map';
}

/** What of a place `serve` cannot run: everything, or some values. */
function notYet(path: readonly string[], schema?: JsonSchema): 'all' | readonly string[] {
  const matching = unbuiltRows.filter(({ where }) => {
    const steps = where.split('.');
    const at = steps.at(-1) === '*' && steps.length === path.length + 1 ? [...path, '*'] : path;
    return steps.length === at.length && steps.every((step, index) => step === at[index]);
  });
  if (matching.some(({ values }) => values === undefined)) return 'all';
  const unready = matching.flatMap(({ values }) => (values ?? []).map(String));
  const possible = schema?.const === undefined ? schema?.enum : [schema.const];
  return possible === undefined ? unready : unready.filter((value) => possible.includes(value));
}

function mark(unready: 'all' | readonly string[]): string {
  if (unready === 'all') return ' **Not yet.**';
  return unready.length === 0 ? '' : ` **Not yet:** ${unready.join(', ')}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function plainValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainValue).join(', ')}]`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

if (import.meta.main) {
  writeFileSync(new URL('../docs/configuration.md', import.meta.url), referencePage());
  writeFileSync(new URL('elicitgate.schema.json', import.meta.url), schemaFile());
}

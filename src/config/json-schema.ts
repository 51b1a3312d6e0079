/**
 * The JSON Schema (draft 7, which editors know best) of the file, from the definitions that validate.
 * Keys beginning with `x-` are allowed everywhere, and a value from outside (`${…}`) is allowed where
 * the schema narrows a text, because editors see the file before such values are put in.
 */
import * as z from 'zod';
import { fileSchema } from './schema.ts';
import { namePattern } from './values.ts';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

const fromOutside = '\\$\\{';

/** @returns the schema as the definitions state it */
export function plainSchema(): JsonSchema {
  return z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' }) as JsonSchema;
}

/** @returns the schema as `elicitgate schema` prints it and the package ships it */
export function jsonSchema(): JsonSchema {
  const title = 'Elicitgate configuration';
  const description = 'One file describes everything: elicitgate.yaml.';
  const { $schema, ...schema } = forEditors(plainSchema());
  return { $schema, title, description, ...schema };
}

/** Children first, then what the node itself allows beyond the definitions. */
function forEditors(schema: JsonSchema): JsonSchema {
  const { enum: values, type, pattern, propertyNames, ...rest } = mapChildren(schema, forEditors);
  const names = propertyNames?.pattern;
  const isOpen = schema.additionalProperties === false || names?.includes(namePattern) === true;
  const narrowed =
    values === undefined
      ? { ...(type !== undefined && { type }), ...(pattern !== undefined && { pattern: `(?:${pattern})|${fromOutside}` }) }
      : { anyOf: [{ enum: values }, { type: 'string', pattern: fromOutside }] };
  return {
    ...narrowed,
    ...rest,
    ...(names !== undefined && { propertyNames: { type: 'string', pattern: names.includes(namePattern) ? `(?:${names})|^x-` : names } }),
    ...(isOpen && { patternProperties: { '^x-': {} } }),
  };
}

function mapChildren(schema: JsonSchema, map: (child: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, map(child)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: map(additionalProperties) }),
    ...(items !== undefined && { items: map(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(map) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map(map) }),
  };
}

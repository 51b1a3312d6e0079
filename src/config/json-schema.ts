/**
 * The JSON Schema (draft 7, which editors know best) of the file, from the definitions that validate.
 * Keys beginning with `x-` are allowed everywhere, and a value from outside (`${…}`) is allowed where
 * the schema narrows a text, because editors see the file before such values are put in.
 */
import * as z from 'zod';
import { fileSchema } from './schema.ts';

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
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

type Mutable = { -readonly [K in keyof JsonSchema]: JsonSchema[K] };

const fromOutside = '\\$\\{';

/** @returns the schema as the definitions state it */
export function plainSchema(): JsonSchema {
  return z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' }) as JsonSchema;
}

/** @returns the schema as `elicitgate schema` prints it and the package ships it */
export function jsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(fileSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema: node }) => forEditors(node as Mutable),
  });
  return { ...(schema as JsonSchema), title: 'Elicitgate configuration', description: 'One file describes everything: elicitgate.yaml.' };
}

function forEditors(node: Mutable): void {
  if (node.additionalProperties === false) node['patternProperties'] = { '^x-': {} };
  if (node.pattern !== undefined) node.pattern = `(?:${node.pattern})|${fromOutside}`;
  if (node.enum !== undefined) {
    node.anyOf = [{ enum: node.enum }, { type: 'string', pattern: fromOutside }];
    delete node.enum;
    delete node.type;
  }
}

/**
 * A catalogue: what an upstream answers to `initialize`, `server/discover` and lists, in a JSON file, for
 * people who have no credential yet. Results are the upstream's own and go out as they stand in the file,
 * digit for digit; what a client could not do without is checked when the file is read.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { err, ok, type Result } from '../errors.ts';
import { memberText } from '../protocol/json-edit.ts';

const file = z.strictObject({
  initialize: z.looseObject({
    protocolVersion: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'a version such as 2025-11-25'),
    capabilities: z.looseObject({}),
    serverInfo: z.looseObject({ name: z.string().min(1), version: z.string() }),
  }),
  discover: z.looseObject({ supportedVersions: z.array(z.string()).min(1), capabilities: z.looseObject({}) }).exactOptional(),
  tools: z.array(z.looseObject({ name: z.string().min(1), inputSchema: z.looseObject({}) })).exactOptional(),
  resources: z.array(z.looseObject({ uri: z.string().min(1), name: z.string() })).exactOptional(),
  resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string().min(1), name: z.string() })).exactOptional(),
  prompts: z.array(z.looseObject({ name: z.string().min(1) })).exactOptional(),
});

/** Results and lists as JSON text. */
export interface Catalogue {
  readonly protocolVersion: string;
  readonly initialize: string;
  readonly discover?: string;
  readonly tools: string;
  readonly resources: string;
  readonly resourceTemplates: string;
  readonly prompts: string;
}

/** @param path absolute. @returns the catalogue, or what is wrong with the file */
export function readCatalogue(path: string): Result<Catalogue, string> {
  let text: string;
  let content: unknown;
  try {
    text = readFileSync(path, 'utf8');
    content = JSON.parse(text);
  } catch (error) {
    return err(`a JSON file (${error instanceof SyntaxError ? 'this is none' : 'it cannot be read'})`);
  }
  const read = file.safeParse(content);
  if (read.success) return ok(inTexts(text, read.data.initialize.protocolVersion));
  const problems = read.error.issues.map(({ path: at, message }) => `${at.length === 0 ? 'the file' : at.map(String).join('.')}: ${message}`);
  return err(`a catalogue: { initialize, discover?, tools?, resources?, resourceTemplates?, prompts? } (${problems.slice(0, 5).join('; ')})`);
}

function inTexts(text: string, protocolVersion: string): Catalogue {
  const list = (key: string): string => memberText(text, [key]) ?? '[]';
  const discover = memberText(text, ['discover']);
  return {
    protocolVersion,
    initialize: memberText(text, ['initialize']) ?? '{}',
    ...(discover === undefined ? {} : { discover }),
    tools: list('tools'),
    resources: list('resources'),
    resourceTemplates: list('resourceTemplates'),
    prompts: list('prompts'),
  };
}

/** Loads a configuration from text in a fresh folder, as a file on disk would be. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';

export type Env = Readonly<Record<string, string>>;

/** 32 bytes of 7, in base64. */
export const aKey = 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=';

/** A folder with the files; it goes away with the test. */
export function folderWith(context: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-config-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** @returns the configuration; fails the test with its problems when there are any */
export function configOf(context: TestContext, text: string, env: Env = {}): Config {
  const result = loadConfig([join(folderWith(context, { 'elicitgate.yaml': text }), 'elicitgate.yaml')], env);
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'));
  return result.value;
}

/** @returns the printed problems, each beginning with line and column; none when the file is right */
export function problemsOf(context: TestContext, text: string, env: Env = {}): readonly string[] {
  const folder = folderWith(context, { 'elicitgate.yaml': text });
  const result = loadConfig([join(folder, 'elicitgate.yaml')], env);
  return result.ok ? [] : result.error.map((problem) => formatProblem(problem).replace(`${folder}/elicitgate.yaml:`, ''));
}

/** A small right file. Sections given here replace its own; `undefined` takes one out. */
export function fileOf(sections: Readonly<Record<string, string | undefined>> = {}): string {
  const all: Readonly<Record<string, string | undefined>> = {
    version: '1',
    identity: '{ local: { user: me } }',
    vault: `{ store: "memory:", keys: ["${aKey}"] }`,
    credentials: '{ k: { kind: apiKey, fields: [{ name: token }], inject: { headers: { X-Key: "{token}" } } } }',
    upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp", rules: [{ tools: ["*"], requires: [k] }] } }',
    ...sections,
  };
  return Object.entries(all)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\n`]))
    .join('');
}

#!/usr/bin/env node
/**
 * Starts Elicitgate: the compiled program of the package, or in a checkout that is not built, its source.
 * Kept in syntax that every Node with modules can read, so that an old one gets a sentence and not a stack trace.
 */
import { existsSync } from 'fs';

var needed = 24;

if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(
    'Elicitgate needs Node ' + needed + ' or newer; this is ' + process.version + '. Install it from https://nodejs.org.'
  );
  process.exitCode = 1;
} else {
  var compiled = new URL('../dist/main.js', import.meta.url);
  import(existsSync(compiled) ? compiled.href : new URL('../src/main.ts', import.meta.url).href);
}

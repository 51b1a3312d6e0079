/**
 * Reads the project's TypeScript files as the structure test sees them: what they import, how long they and their
 * functions are, which names they use. Imports are taken with their types: a type import is a dependency too.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

export interface Module {
  /** Path from the root that was read, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** Imported modules of the project, as paths from the same root. */
  readonly imports: readonly string[];
  /** Imported packages and Node's own modules, by the name that is written. */
  readonly packages: readonly string[];
  readonly functions: readonly { readonly name: string; readonly line: number; readonly lines: number }[];
  /** Lines on which the process is named as a value or imported. */
  readonly processAt: readonly number[];
}

/**
 * @param root folder to read from, absolute
 * @param patterns globs below it, such as `src/*.ts`
 * @throws when a file cannot be read
 */
export function readModules(root: string, patterns: readonly string[]): readonly Module[] {
  return globSync([...patterns], { cwd: root }).sort().map((path) => parseModule(path, readFileSync(join(root, path), 'utf8')));
}

export function parseModule(path: string, text: string): Module {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const specifiers: string[] = [];
  const functions: { name: string; line: number; lines: number }[] = [];
  const around: (typeof functions)[number][] = [];
  const processAt: number[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;

  const visit = (node: ts.Node): void => {
    const specifier = importedBy(node);
    if (specifier !== undefined) specifiers.push(specifier);
    if (namesTheProcess(node)) processAt.push(lineOf(node.getStart(source)));
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    const line = lineOf(node.getStart(source));
    const measured = { name: nameOf(node), line, lines: lineOf(node.getEnd()) - line + 1 };
    const outer = around.at(-1);
    if (outer !== undefined && isTest(node)) outer.lines -= measured.lines;
    functions.push(measured);
    around.push(measured);
    ts.forEachChild(node, visit);
    around.pop();
  };
  visit(source);

  const isOurs = (specifier: string) => specifier.startsWith('.');
  return {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports: specifiers.filter(isOurs).map((specifier) => normalize(join(dirname(path), specifier))),
    packages: specifiers.filter((specifier) => !isOurs(specifier)),
    functions,
    processAt,
  };
}

function importedBy(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return textOf(node.arguments[0]);
  return undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteral(node) ? node.text : undefined;
}

function namesTheProcess(node: ts.Node): boolean {
  const specifier = importedBy(node);
  if (specifier === 'process' || specifier === 'node:process') return true;
  if (!ts.isIdentifier(node) || node.text !== 'process') return false;
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  return isMember ? parent.expression.getText() === 'globalThis' : isRead(node, parent);
}

/** Whether a name stands for a value, and does not itself name a property, a parameter or a variable. */
function isRead(node: ts.Identifier, parent: ts.Node): boolean {
  if (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent)) return parent.initializer === node;
  return !(ts.isTypeElement(parent) || ts.isClassElement(parent) || ts.isParameter(parent) || ts.isBindingElement(parent));
}

/** A test is measured alone, and does not lengthen the suite around it. */
function isTest(node: ts.SignatureDeclaration): boolean {
  const call = node.parent;
  return ts.isCallExpression(call) && ['describe', 'suite', 'test', 'it'].includes(call.expression.getText());
}

function nameOf(node: ts.SignatureDeclaration): string {
  const holder = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return holder?.getText() ?? 'a function without name';
}

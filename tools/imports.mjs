// The imports of src, and which of them tools/layers.mjs forbids. `npm run layers` and test/layers.test.ts read it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { LAYERS, WORKER_ADDRESSES } from './layers.mjs';

/**
 * @typedef {{ readonly file: string, readonly text: string }} Source
 * @typedef {object} Import
 * @property {string} from path from the repository's root
 * @property {string} to likewise; for a package its name
 * @property {boolean} isPackage
 * @property {'value' | 'type' | 'url'} kind
 */

/** All but what the npm package installs beside itself is bundled. @type {Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>} */
const { dependencies, devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** What builds, checks and tests, and is in no bundle. */
const TOOLS =
  /^(?:@stryker|@types|@typescript|@vitejs|@vitest|axe-core|fast-check|knip|leven|ox|playwright|typescript|vite|webgpu)/;

/** Every file under a folder, sorted. @param {string} folder @returns {string[]} */
export const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name).split(path.sep).join('/'))
    .sort();

/** @returns {Source[]} */
export const sourcesOfTree = () =>
  filesUnder('src')
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

/** Every import, re-export, dynamic import and `new URL(…, import.meta.url)` of a file. @param {Source} source @returns {Import[]} */
export function importsOf({ file, text }) {
  /** @type {Import[]} */
  const found = [];
  /** @param {string} specifier @param {Import['kind']} kind */
  const add = (specifier, kind) => {
    const isPackage = !specifier.startsWith('.');
    const to = isPackage ? specifier : path.posix.join(path.posix.dirname(file), specifier);
    found.push({ from: file, to: to.replace(/\?.*$/, ''), isPackage, kind });
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  // only these stand within a statement; most files have neither
  const nested = /\bimport\s*\(|\bURL\b/.test(text);
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      // `import { type A }` still runs the module under verbatimModuleSyntax: only `import type` is a type import
      const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      add(node.moduleSpecifier.text, isType ? 'type' : 'value');
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, node.isTypeOnly ? 'type' : 'value');
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      add(node.argument.literal.text, 'type');
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      // an address that is only known when it runs could reach anything
      add(argument && ts.isStringLiteral(argument) ? argument.text : './computed', 'value');
    } else if (ts.isNewExpression(node) && node.expression.getText(source) === 'URL') {
      const [argument, base] = node.arguments ?? [];
      const address = base?.getText(source) === 'import.meta.url' && argument && ts.isStringLiteral(argument);
      // an address of anything else (a folder, a picture) runs nothing
      if (address && /\.tsx?$/.test(argument.text)) add(argument.text, 'url');
    }
    if (nested) ts.forEachChild(node, visit);
  };
  source.statements.forEach(visit);
  return found;
}

/** @param {string} file */
const layerOf = (file) =>
  LAYERS.find(({ files }) => files.some((f) => (f.endsWith('/') ? file.startsWith(f) : file === f)));

/** Why an import is forbidden; undefined: it's allowed. @param {Import} found @returns {string | undefined} */
function faultOf({ from, to, isPackage, kind }) {
  const layer = layerOf(from);
  if (!layer) return undefined; // its file is named once
  const isCommandLine = from.startsWith('src/cli/');
  if (to.startsWith('src/')) {
    const target = layerOf(to);
    const allowed =
      kind === 'url'
        ? WORKER_ADDRESSES.some((address) => from === address.from && to === address.to)
        : target && (layer.imports.includes(target.name) || (kind === 'type' && layer.types?.includes(target.name)));
    return allowed ? undefined : `${from} (${layer.name}) → ${to} (${target?.name ?? 'no layer'}, ${kind})`;
  }
  // the command line runs from a checkout, where the tools for Node and their packages are there too
  if (!isPackage && /^(\.\.|test|tools|scripts)\//.test(to)) {
    return isCommandLine && to.startsWith('tools/') ? undefined : `${from} leaves src: ${to}`;
  }
  if (!isPackage || isCommandLine || kind === 'type') return undefined;
  const name = to.split('/', to.startsWith('@') ? 2 : 1).join('/');
  return name in dependencies || (name in devDependencies && !TOOLS.test(name))
    ? undefined
    : `${from} → ${to}: not among what the page may contain (package.json, tools/imports.mjs)`;
}

/** Circles of imports, each once, from its first file to the same. @param {readonly Import[]} imports @returns {string[]} */
function circles(imports) {
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const { from, to, kind } of imports) if (kind !== 'url') next.set(from, [...(next.get(from) ?? []), to]);
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {string[]} */
  const way = [];
  /** @type {string[]} */
  const found = [];
  /** @param {string} file */
  const follow = (file) => {
    const at = way.indexOf(file);
    if (at >= 0) found.push(`a circle: ${[...way.slice(at), file].join(' → ')}`);
    if (at >= 0 || done.has(file)) return;
    way.push(file);
    for (const to of next.get(file) ?? []) follow(to);
    way.pop();
    done.add(file);
  };
  for (const file of next.keys()) follow(file);
  return found;
}

/**
 * What is wrong with a tree, one sentence each.
 * @param {readonly Source[]} sources @param {readonly Import[]} [imports] @returns {string[]}
 */
export const violations = (sources, imports = sources.flatMap(importsOf)) => [
  ...sources
    .filter(({ file }) => !layerOf(file) && !file.endsWith('.d.ts'))
    .map(({ file }) => `${file}: in no layer; name it in tools/layers.mjs`),
  ...imports.map(faultOf).filter((fault) => fault !== undefined),
  ...circles(imports),
];

/** Imports of src that lead to no file. @param {readonly Import[]} imports @returns {string[]} */
export const missingFiles = (imports) =>
  imports
    .filter(({ to }) => to.startsWith('src/') && !existsSync(to))
    .map(({ from, to }) => `${from} → ${to}: no such file`);

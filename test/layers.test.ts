import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cruise } from 'dependency-cruiser';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import cruiser from '../.dependency-cruiser.mjs';
import { joined, piecesOf } from '../tools/wgslPieces.ts';
import { LAYERS, WORKER_ADDRESSES } from '../tools/layers.mjs';

type Kind = 'value' | 'type' | 'url';
interface Import {
  readonly from: string; // path from the repository's root
  readonly to: string; // likewise; a bare name for a package
  readonly kind: Kind;
}
interface Source {
  readonly file: string;
  readonly text: string;
}

const posix = (file: string) => file.split(path.sep).join('/');

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix(path.join(entry.parentPath, entry.name)))
    .sort();
}

/** Every import, re-export, dynamic import and `new URL(…, import.meta.url)` of a file. */
function importsOf({ file, text }: Source): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, kind: Kind) => {
    const to = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier;
    found.push({ from: file, to: to.replace(/\?.*$/, ''), kind });
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  // only these stand within a statement; most files have neither
  const nested = /\bimport\s*\(|\bURL\b/.test(text);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, isTypeImport(node.importClause) ? 'type' : 'value');
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

// `import { type A }` still runs the module under verbatimModuleSyntax: only `import type` is a type import.
function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

function layerOf(file: string) {
  return LAYERS.find(({ files }) => files.some((f) => (f.endsWith('/') ? file.startsWith(f) : file === f)));
}

/** What is wrong with a tree, one sentence each. */
function violations(sources: readonly Source[], imports = importsOf): string[] {
  const found: string[] = [];
  for (const source of sources) {
    const from = layerOf(source.file);
    if (!from) {
      if (!source.file.endsWith('.d.ts')) found.push(`${source.file}: in no layer; name it in tools/layers.mjs`);
      continue;
    }
    for (const { to, kind } of imports(source)) {
      if (!to.startsWith('src/')) {
        const outside = to.startsWith('.') || /^(test|tools|scripts)\//.test(to);
        // the command line runs from a checkout, where the tools for Node are there too
        const tool = source.file.startsWith('src/cli/') && to.startsWith('tools/');
        if (outside && !tool) found.push(`${source.file} leaves src: ${to}`);
        continue;
      }
      const target = layerOf(to);
      const allowed =
        kind === 'url'
          ? WORKER_ADDRESSES.some((address) => source.file === address.from && to === address.to)
          : target !== undefined &&
            (from.imports.includes(target.name) || (kind === 'type' && from.types?.includes(target.name) === true));
      if (!allowed) found.push(`${source.file} (${from.name}) → ${to} (${target?.name ?? 'no layer'}, ${kind})`);
    }
  }
  return found;
}

const tree = filesUnder('src');
const sources = tree
  .filter((file) => /\.tsx?$/.test(file))
  .map((file): Source => ({ file, text: readFileSync(file, 'utf8') }));
const imported = new Map(sources.map((source) => [source, importsOf(source)])); // each file is parsed once
const allImports = [...imported.values()].flat();

// Each breaks one rule; the gates must catch every one.
const PLANTED: readonly (readonly [file: string, text: string])[] = [
  ['src/base/rng.ts', "import type { RunConfig } from '../config/fields.ts';"],
  ['src/config/config.ts', "import { open, type Device } from '../gpu/device.ts';"],
  ['src/config/config.ts', "import type { BatchView } from '../domain/batch.ts';"],
  ['src/domain/batch.ts', "import type { RunEvent } from '../wire/events.ts';"],
  ['src/domain/batch.ts', "import type { Checkpoint } from '../runs/checkpoint.ts';"],
  ['src/wire/events.ts', "import type { Policy } from '../model/policy.ts';"],
  ['src/envs/env.ts', "import type { RunEvent } from '../wire/events.ts';"],
  ['src/envs/env.ts', "import { App } from '../ui/shell/App.tsx';"],
  ['src/model/policy.ts', "import type { Question } from '../wire/questions.ts';"],
  ['src/rl/trainer.ts', "import type { RunEvent } from '../wire/events.ts';"],
  ['src/rl/trainer.ts', "import type { Checkpoint } from '../runs/checkpoint.ts';"],
  ['src/session/session.ts', "import '../worker/faults.ts';"],
  ['src/gpu/device.ts', "import { parameters } from '../model/architecture.ts';"],
  ['src/gpu/device.ts', "export { parameters } from '../model/architecture.ts';"],
  ['src/gpu/device.ts', "export const later = () => import('../model/architecture.ts');"],
  ['src/model/policy.ts', "import { train } from '../rl/trainer.ts';"],
  ['src/model/policy.ts', "import type { Episode } from '../envs/env.ts';"],
  ['src/envs/env.ts', "import type { Policy } from '../model/policy.ts';"],
  ['src/envs/env.ts', "import { train } from '../rl/trainer.ts';"],
  ['src/rl/trainer.ts', "import { parameters } from '../model/architecture.ts';"],
  ['src/rl/trainer.ts', "import { type Policy } from '../model/policy.ts';"],
  ['src/rl/trainer.ts', "import type { Device } from '../gpu/device.ts';"],
  ['src/ui/lab/Lab.tsx', "import type { Policy } from '../../model/policy.ts';"],
  ['src/ui/lab/Lab.tsx', "import { Update } from '../update/Update.tsx';"],
  ['src/ui/parts/Icon.tsx', "import { Header } from '../frame/Header.tsx';"],
  ['src/ui/shell/App.tsx', "import '../main.tsx';"],
  ['src/page/training/engine.ts', "import { train } from '../../rl/trainer.ts';"],
  ['src/page/view/liveStore.ts', "import { currentRun } from '../runs/liveRun.ts';"],
  ['src/page/rollout/kinds.ts', "import type { Screen } from '../address/screens.ts';"],
  ['src/page/share/moment.ts', "import { Card } from '../../ui/share/Card.tsx';"],
  ['src/page/training/engine.ts', "import '../../worker.ts';"],
  ['src/rl/trainer.ts', "import '../session/session.ts';"],
  ['src/model/policy.ts', "import '../cli/train.ts';"],
];

describe('imports go one way', () => {
  test('in the real tree', () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(allImports.filter(({ to }) => to.startsWith('src/')).length).toBeGreaterThan(20);
    expect(violations(sources, (source) => imported.get(source) ?? [])).toEqual([]);
  });

  test('and every import of a file leads to a file', () => {
    const missing = allImports.filter(({ to }) => to.startsWith('src/') && !existsSync(to));
    expect(missing).toEqual([]);
  });

  test('and no file lies loose but where the page and its workers start', () => {
    const loose = tree.filter((file) => /^src\/(?:(?:ui|page)\/)?[^/]+$/.test(file) && !file.endsWith('.d.ts'));
    expect(loose.sort()).toEqual([
      'src/downloader.ts',
      'src/examiner.ts',
      'src/python.ts',
      'src/reader.ts',
      'src/speaker.ts',
      'src/ui/main.tsx',
      'src/worker.ts',
    ]);
  });

  test.each(PLANTED)('%s may not say %s', (file, text) => {
    expect(violations([{ file, text }])).toHaveLength(1);
  });

  test('what is allowed is not caught', () => {
    const fine: readonly Source[] = [
      { file: 'src/rl/trainer.ts', text: "import type { Policy } from '../model/policy.ts'; import '../envs/env.ts';" },
      {
        file: 'src/page/training/runClient.ts',
        text: "new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module' });",
      },
      {
        file: 'src/worker.ts',
        text: "import './session/session.ts'; import './rl/trainer.ts'; import './gpu/device.ts';",
      },
      { file: 'src/ui/main.tsx', text: "import { App } from './shell/App.tsx'; import 'react';" },
      { file: 'src/cli/nodeHost.ts', text: "import '../../tools/dawn.ts'; import '../session/session.ts';" },
    ];
    expect(violations(fine)).toEqual([]);
  });

  test.each([
    { file: 'src/ui/shell/App.tsx', text: "new URL('../../worker.ts', import.meta.url);" },
    { file: 'src/other.ts', text: '' },
    { file: 'src/base/rng.ts', text: "import '../../test/gpu/wgsl.test.ts';" },
    { file: 'src/session/session.ts', text: "import '../../tools/dawn.ts';" },
    { file: 'src/cli/train.ts', text: "import '../../scripts/cli.mjs';" },
  ])('nor is $file let off: $text', (source) => {
    expect(violations([source])).toHaveLength(1);
  });

  test('dependency-cruiser catches them too', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'layers-'));
    const wanted: string[] = [];
    try {
      for (const [index, [file, text]] of PLANTED.entries()) {
        // two plants of one file must not overwrite each other, except where a rule names the very file
        const named = LAYERS.some(({ files }) => files.includes(file));
        const planted = named ? file : file.replace(/\.tsx?$/, `${index}.ts`);
        const target = path.posix.join(path.posix.dirname(file), /'(\.[^']+)'/.exec(text)?.[1] ?? '');
        for (const name of [target, planted]) {
          mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
          if (name === planted || !existsSync(path.join(root, name))) {
            writeFileSync(path.join(root, name), name === planted ? text : 'export {};');
          }
        }
        wanted.push(`${planted} → ${target}`);
      }
      const { output } = await cruise(['src'], {
        ruleSet: { forbidden: cruiser.forbidden ?? [] },
        validate: true,
        baseDir: root,
        tsPreCompilationDeps: true,
      });
      if (typeof output === 'string') throw new Error(output);
      const caught = output.summary.violations.map(({ from, to }) => `${from} → ${to}`);
      // it takes `import { type A }` for a type import; the parser above does not
      const inline = PLANTED.findIndex(([, text]) => text.includes('{ type '));
      expect(wanted.filter((plant, index) => index !== inline && !caught.includes(plant))).toEqual([]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

const kernels = tree.filter((file) => /^src\/gpu\/kernels\/.*\.wgsl$/.test(file));

const piecesNamed = new Set(kernels.flatMap((file) => piecesOf(readFileSync(file, 'utf8'))));
const pieces = kernels.filter((file) => file.includes('/pieces/'));

describe('kernels', () => {
  test('there are some', () => {
    expect(kernels.length).toBeGreaterThan(10);
  });

  test.each(kernels.filter((file) => !pieces.includes(file)))(
    '%s introduces itself, has one entry and binds at most eight buffers',
    (file) => {
      const text = readFileSync(file, 'utf8');
      const lines = text.replace(/\n$/, '').split('\n');
      const header = lines.slice(
        0,
        lines.findIndex((line) => !line.startsWith('//')),
      );
      expect(header[0]).toContain(path.basename(file, '.wgsl'));
      for (const part of ['Shapes', 'Parallel', 'Numerics']) {
        expect(header.some((line) => line.startsWith(`// ${part}`))).toBe(true);
      }
      const whole = joined(text, (name) => readFileSync(`src/gpu/kernels/pieces/${name}.wgsl`, 'utf8'));
      const entries = Array.from(whole.matchAll(/@compute[^{;]*?\bfn\s+(\w+)/g), (match) => match[1]);
      expect(entries).toEqual(['main']);
      expect(whole.match(/var<storage/g)?.length ?? 0).toBeLessThanOrEqual(8);
    },
  );

  test.each(pieces)('%s says what it is, and a kernel names it', (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^\/\/ \w/);
    const name = path.basename(file, '.wgsl');
    expect(piecesNamed).toContain(name);
  });
});

describe('the source', () => {
  test('prints nothing outside the command line', () => {
    const printing = sources.filter(({ file, text }) => !file.startsWith('src/cli/') && /\bconsole\.log\b/.test(text));
    expect(printing.map(({ file }) => file)).toEqual([]);
  });

  test('exports by name', () => {
    const unnamed = sources.filter(({ file, text }) => file !== 'src/env.d.ts' && /^export default\b/m.test(text));
    expect(unnamed.map(({ file }) => file)).toEqual([]);
  });

  test('names no folder of anybody’s machine', () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
    const local = /(?:^|[\s"'`(=])(?:\/(?:home|Users|root|work|workspace|mnt|tmp)\/\w|[A-Z]:\\\\?Users\\)/m;
    expect(local.test('see /home/someone/notes')).toBe(true);
    const naming = tracked
      .filter((file) => existsSync(file) && /\.(tsx?|m?js|cjs|json|md|html|css|wgsl|py|sh|ya?ml)$|^\.ci\//.test(file))
      .filter((file) => file !== 'test/layers.test.ts' && local.test(readFileSync(file, 'utf8')));
    expect(naming).toEqual([]);
  });
});

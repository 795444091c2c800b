import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, type Source, sourcesOfTree, violations } from '../tools/imports.mjs';
import { joined, piecesOf } from '../tools/wgslPieces.ts';

const tree = filesUnder('src');
const sources = sourcesOfTree();

// Each breaks one rule.
const PLANTED: readonly (readonly [file: string, text: string])[] = [
  ['src/base/rng.ts', "import type { RunConfig } from '../config/fields.ts';"],
  ['src/config/config.ts', "import { open, type Device } from '../gpu/device.ts';"],
  ['src/config/config.ts', "import type { BatchView } from '../domain/batch.ts';"],
  ['src/domain/batch.ts', "import type { RunEvent } from '../wire/events.ts';"],
  ['src/domain/batch.ts', "import type { Checkpoint } from '../runs/checkpoint.ts';"],
  ['src/wire/commands.ts', "import type { Policy } from '../model/policy.ts';"],
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
  test('no file lies loose but where the page and its workers start', () => {
    const loose = tree.filter((file) => /^src\/(?:(?:ui|page)\/)?[^/]+$/.test(file) && !file.endsWith('.d.ts'));
    expect(loose.sort()).toEqual([
      'src/downloader.ts',
      'src/examiner.ts',
      'src/python.ts',
      'src/reader.ts',
      'src/speaker.ts',
      'src/ui/main.tsx',
      'src/ui/notebook.tsx',
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
      {
        file: 'src/cli/nodeHost.ts',
        text: "import '../../tools/dawn.ts'; import '../session/session.ts'; import 'vite';",
      },
    ];
    expect(violations(fine)).toEqual([]);
  });

  test.each([
    { file: 'src/ui/shell/App.tsx', text: "new URL('../../worker.ts', import.meta.url);" },
    { file: 'src/other.ts', text: '' },
    { file: 'src/base/rng.ts', text: "import '../../test/gpu/wgsl.test.ts';" },
    { file: 'src/session/session.ts', text: "import '../../tools/dawn.ts';" },
    { file: 'src/session/session.ts', text: "import { build } from 'vite';" },
    { file: 'src/session/session.ts', text: "import { readFileSync } from 'node:fs';" },
    { file: 'src/cli/train.ts', text: "import '../../scripts/cli.mjs';" },
  ])('nor is $file let off: $text', (source) => {
    expect(violations([source])).toHaveLength(1);
  });

  test('nor a circle of files, of types either', () => {
    const circle: readonly Source[] = [
      { file: 'src/rl/trainer.ts', text: "import './rows.ts';" },
      { file: 'src/rl/rows.ts', text: "import type { Train } from './trainer.ts';" },
    ];
    expect(violations(circle)).toEqual(['a circle: src/rl/trainer.ts → src/rl/rows.ts → src/rl/trainer.ts']);
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

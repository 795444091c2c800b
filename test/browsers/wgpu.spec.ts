import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed, onPath } from './tab.ts';

const root = path.join(import.meta.dirname, '../..');
/** Under node_modules, as Deno looks there for the packages that programs import. */
const programs = path.join(root, 'node_modules/.cache', `wgpu-${process.pid}`);
const deno = installed('DENO_PATH', onPath('deno'));
/** Why nothing runs here; '' where everything does. */
let missing = deno === undefined ? 'no Deno here; npm install --global deno, or set DENO_PATH' : '';

/** Runs a program of this project in Deno, whose WebGPU is wgpu. */
function inDeno(program: string, ...args: readonly string[]) {
  const flags = ['run', '--allow-all', '--unstable-webgpu', path.join(programs, `${program}.js`), ...args];
  const env = { ...process.env, DENO_NO_UPDATE_CHECK: '1' };
  return spawnSync(deno ?? '', flags, { cwd: root, encoding: 'utf8', env, timeout: 600_000, maxBuffer: 1e8 });
}

/** What compileKernels.ts prints. */
interface Compiled {
  readonly adapter: string;
  readonly features: readonly string[];
  readonly compiled: number;
  readonly failed: Readonly<Record<string, string>>;
}
let kernels: Compiled | undefined;

beforeAll(async () => {
  if (missing !== '') return;
  const input = {
    golden: path.join(root, 'tools/golden/golden.ts'),
    train: path.join(root, 'src/cli/train.ts'),
    compileKernels: path.join(import.meta.dirname, 'compileKernels.ts'),
  };
  await build({
    root,
    configFile: path.join(root, 'tools/cli.vite.config.ts'),
    logLevel: 'silent',
    build: {
      ssr: true,
      outDir: programs,
      emptyOutDir: true,
      target: 'node20',
      minify: false,
      copyPublicDir: false,
      rolldownOptions: { input },
    },
  });
  const { stdout, stderr } = inDeno('compileKernels');
  if (stderr.includes('WebGPU found no adapter')) {
    missing = 'wgpu finds no adapter; install a Vulkan driver (Debian: mesa-vulkan-drivers) or set VK_ICD_FILENAMES';
  } else if (stdout === '') throw new Error(stderr);
  else kernels = JSON.parse(stdout) as Compiled;
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

test('every kernel compiles on wgpu but those of subgroups, which it cannot read and does not offer', ({ skip }) => {
  skip(missing !== '', missing);
  console.log(`${kernels?.adapter ?? ''}: ${kernels?.compiled ?? 0} compiled`);
  expect(kernels?.compiled).toBeGreaterThan(70);
  // once wgpu reads the directive it will offer the feature, and all must compile
  const behind = kernels?.features.includes('subgroups')
    ? []
    : [
        'attention_backward_key_value_shared_rows',
        'attention_backward_query_shared_rows',
        'attention_forward_shared_rows',
        'matmul_broadcast',
        'norm_project_broadcast',
      ];
  expect(Object.keys(kernels?.failed ?? {}).toSorted()).toEqual(behind);
});

test('wgpu agrees with PyTorch on every golden fixture', ({ skip }) => {
  skip(missing !== '', missing);
  const { status, stdout } = inDeno('golden', 'test/golden');
  console.log(stdout.trim().split('\n').at(-1));
  expect(stdout.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([]);
  expect(Number(/(\d+) within bounds/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(96);
  expect(status).toBe(0);
});

test('number hunt trains on wgpu', ({ skip }) => {
  skip(missing !== '', missing);
  const { stdout, stderr } = inDeno('train', '--preset', 'number-hunt', '--backend', 'gpu', '--updates', '3', '--json');
  const lines = stdout.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
  expect(lines[0]?.['backend'], stderr).toMatchObject({ kind: 'gpu' });
  const updates = lines.filter(({ kind, update }) => kind === 'update' && update !== 0);
  expect(updates.map(({ update }) => update)).toEqual([1, 2, 3]);
  for (const update of updates) expect(update['actor/grad_norm']).toBeGreaterThan(0);
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { writeFolder } from '../../src/cli/folders.ts';
import { open, packed, to } from '../checkpoints/runs.ts';
import { type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn('export', 'handover');
  const running = await open({});
  await to(running, 1);
  await writeFolder(programs.at('saved'), checkpointFiles(await packed(running)));
}, 120_000);
afterAll(() => programs.remove());

const ended = (name: string, ...args: readonly string[]) => programs.start(name, args).ended;
const contents = (...names: readonly string[]) =>
  readdirSync(programs.at(...names), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')]);

test('an export and a hand-over leave a folder as it is that holds a run, and a zip that is there', async () => {
  const first = await ended('handover', '--run', 'saved', '--for', 'trl', '--out', 'handed');
  expect(first.code).toBe(0);
  expect(readdirSync(programs.at('handed'))).toContain('train_trl.py');
  writeFileSync(programs.at('there.zip'), 'mine');
  const before = [contents('saved'), contents('handed')];
  for (const [name, out, holds] of [
    ['export', 'saved', 'holds a saved run'],
    ['handover', 'saved', 'holds a saved run'],
    ['handover', 'handed', 'holds a saved run'],
    ['export', 'there.zip', 'is there already'],
  ] as const) {
    const engine = name === 'handover' ? ['--for', 'verl'] : [];
    const { code, err } = await ended(name, '--run', 'saved', ...engine, '--out', out);
    expect(err).toMatch(`${name}: --out: got ${out}, which ${holds}; want `);
    expect(code).toBe(1);
  }
  expect([contents('saved'), contents('handed')]).toEqual(before);
  expect(readFileSync(programs.at('there.zip'), 'utf8')).toBe('mine');
}, 60_000);

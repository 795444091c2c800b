import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { readFolder, writeFolder } from '../../src/cli/diskFolders.ts';
import { writerArguments } from '../../src/cli/folderWriter.ts';
import { open, packed, to } from '../checkpoints/runs.ts';
import { type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn();
  const running = await open({});
  await to(running, 1);
  await writeFolder(programs.at('saved'), checkpointFiles(await packed(running)));
});
afterAll(() => programs.remove());

const ended = (name: 'export' | 'handover', ...args: readonly string[]) => programs.start(name, args).ended;
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
    ['handover', 'handed', 'holds a saved run'],
    ['export', 'there.zip', 'is there already'],
  ] as const) {
    const engine = name === 'handover' ? ['--for', 'verl'] : [];
    const { code, err } = await ended(name, '--run', 'saved', ...engine, '--out', out);
    expect(err).toMatch(`${name}: --out can’t be ${out}, because it ${holds}. Name `);
    expect(code).toBe(1);
  }
  expect([contents('saved'), contents('handed')]).toEqual(before);
  expect(readFileSync(programs.at('there.zip'), 'utf8')).toBe('mine');
});

// so cold that the two rollouts of a task are alike, and the filter then keeps none: after five such updates training stops
const STOPS =
  '--env bandit --warmStart none --width 16 --prompts 2 --groupSize 2 --evalTasks 8 --backend cpu --updates 40 --filter drop-uniform --temperature 0.05'.split(
    ' ',
  );

test('an export whose training has to stop ends with 1, as training itself does, and writes nothing', async () => {
  const { code, out, err } = await ended('export', ...STOPS, '--out', 'stopped');
  expect(err).toMatch(/The last 5 batches .* nothing was learned.*\nNothing was written\. npm run train -- --save DIR/);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(contents('stopped')).toEqual([]);
});

test('a run that begins with imitation is handed over as it is after that', async () => {
  const small =
    '--width 16 --layers 1 --heads 2 --kvHeads 2 --ffn 16 --prompts 2 --groupSize 2 --evalTasks 8 --backend cpu';
  const begun = async (name: string, ...flags: readonly string[]) => {
    const { code } = await ended('handover', ...small.split(' '), ...flags, '--for', 'trl', '--out', name);
    expect(code).toBe(0);
    return readFileSync(`${programs.at(name)}/model/model.safetensors`);
  };
  const one = await begun('one', '--warmStart', 'train', '--imitationSteps', '1');
  const two = await begun('two', '--warmStart', 'train', '--imitationSteps', '2');
  expect(two.equals(one)).toBe(false);
});

/** What reading the arguments is refused with, which is the first that either program does. */
const refusal = (name: 'export' | 'handover', args: readonly string[]) =>
  writerArguments(args, { name, usage: '', ownFlags: name === 'export' ? ['form'] : ['for'], runFolders: [] }).then(
    () => 'none',
    String,
  );

test('an export and a hand-over try --out before they train or read a run', async () => {
  writeFileSync(programs.at('a-file'), 'mine');
  for (const [name, ...flags] of [
    ['export', '--run', 'nowhere'],
    ['export', ...STOPS],
    ['handover', '--for', 'trl', '--run', 'nowhere'],
    ['handover', '--for', 'trl', ...STOPS],
  ] as const)
    for (const out of ['x', 'x.zip'])
      expect(await refusal(name, [...flags, '--out', programs.at('a-file', out)])).toMatch(
        /a-file.* cannot be (?:read|written to): /,
      );
});

test('flags of training that writing once can make nothing of are refused by name', async () => {
  for (const name of ['export', 'handover'] as const)
    for (const flag of ['--resume', '--save', '--save-every', '--tensorboard'])
      expect(await refusal(name, ['--preset', 'bandit', flag, '3', '--out', 'refused'])).toContain(
        `${flag}: ${name} writes once, into --out, and takes none. Train with npm run train -- --save DIR`,
      );
});

test('--from goes on with a saved run in an export and a hand-over; a preset is knobs like any other, and facts of another are refused', async () => {
  const more = await ended('export', '--from', 'saved', '--updates', '3', '--out', 'more');
  expect(JSON.parse(more.out)).toMatchObject({ kind: 'export', update: 3 });
  const read = readCheckpointFiles(await readFolder(programs.at('more')));
  expect(read.kind === 'ours' && read.run.checkpoint.progress.update).toBe(3);
  expect(read.kind === 'ours' && read.run.config).toMatchObject({ seed: 7, width: 16, updates: 3 }); // as it was saved
  expect((await ended('handover', '--from', 'saved', '--for', 'trl', '--out', 'handed2')).code).toBe(0);
  expect(readFileSync(programs.at('handed2', 'README.md'), 'utf8')).toContain('after update 1.');
  const preset = await ended('export', '--from', 'saved', '--preset', 'bandit', '--out', 'none');
  expect(preset.code).toBe(2);
  expect(preset.err).toMatch(/^env: can’t change during a run/m);
  writeFileSync(programs.at('mine.csv'), 'Ada,teacher,Ben\nBen,city,Lima\nCy,teacher,Ben\nDee,teacher,Ben\n');
  const facts = await ended('export', '--from', 'saved', '--facts', 'mine.csv', '--out', 'none');
  expect(facts.err).toMatch(/^--facts .*mine\.csv can’t be combined with --from\. A saved run has its own\.\n$/);
  expect(facts.code).toBe(2);
});

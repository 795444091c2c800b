import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trainTaskSeed } from '../../src/rl/settings.ts';
import { HIDDEN_WORD } from '../written/pythonMachine.ts';
import { NUMBERS } from '../written/numbers.ts';
import { type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn();
});
afterAll(() => programs.remove());

const SIZES = '--layers 1 --width 16 --heads 2 --kvHeads 2 --ffn 16 --prompts 1 --groupSize 2 --evalTasks 4';
const NEW = `${SIZES} --warmStart none --seed 5 --backend cpu`.split(' ');
const train = (...args: readonly string[]) => programs.start('train', args).ended;
const write = (name: string, text: string) => writeFileSync(programs.at(name), text);
const hashOf = (out: string) =>
  (JSON.parse(out.trim().split('\n').at(-1) ?? '') as { parameters_hash: string }).parameters_hash;

test('a run on a person’s environment is saved with the file, and goes on only when the file is named', async () => {
  write('numbers.ts', NUMBERS);
  const whole = await train(...NEW, '--env-file', 'numbers.ts', '--updates', '3');
  expect(whole.code).toBe(0);
  expect(whole.err).toContain('numbers.ts, seed 5: 3 updates');
  const begun = await train(...NEW, '--env-file', 'numbers.ts', '--updates', '2', '--save', 'mine');
  expect(begun.code).toBe(0);
  expect(readFileSync(programs.at('mine', 'environment.ts'), 'utf8')).toBe(NUMBERS);
  const unnamed = await train('--resume', 'mine', '--updates', '3');
  expect(unnamed.code).toBe(2);
  expect(unnamed.err).toContain('--env-file mine/environment.ts');
  const from = ['--from', 'mine', '--updates', '3', '--backend', 'cpu'];
  expect((await train(...from)).err).toContain('--env-file mine/environment.ts');
  const copied = await train(...from, '--env-file', 'numbers.ts');
  expect(hashOf(copied.out)).toBe(hashOf(whole.out));
  const named = await train('--resume', 'mine', '--updates', '3', '--env-file', 'mine/environment.ts');
  expect(named.code).toBe(0);
  expect(hashOf(named.out)).toBe(hashOf(whole.out));
});

test('an endless loop pauses the run: its place is named, what was trained is saved, and a mended file goes on', async () => {
  const many = NUMBERS.replace('train: 1000', 'train: 1000000');
  const index = trainTaskSeed(5, 2, 0) % 1_000_000; // the one task of the second update
  const hanging = many.replace('reset({ split, index, draw }): string {', `$&\n    if (index === ${index}) for (;;);`);
  const line = hanging.split('\n').findIndex((text) => text.includes('for (;;)')) + 1;
  write('hanging.ts', hanging);
  const paused = await train(...NEW, '--env-file', 'hanging.ts', '--updates', '3');
  expect(paused.code).toBe(1);
  expect(paused.err).toContain(`hanging.ts:${line}: reset() computed too long`);
  expect(paused.err).toContain('saved in paused-run after update 1');
  write('mended.ts', many);
  const on = await train('--resume', 'paused-run', '--env-file', 'mended.ts');
  expect(on.code).toBe(0);
  expect(on.err).toContain('Goes on after update 1');
});

test('a run that is ended while it imitates has shown its steps, and is saved even if no folder was named', async () => {
  write('slow.ts', NUMBERS);
  const args = `${SIZES} --imitationSteps 100000 --seed 5 --backend cpu --json --env-file slow.ts`.split(' ');
  const { child, ended } = programs.start('train', args);
  let shown = '';
  child.stdout?.on('data', (text: unknown) => {
    shown += String(text);
    if (shown.includes('"kind":"imitation","done":20')) child.kill('SIGTERM');
  });
  const { code, out, err } = await ended;
  expect(code).toBe(143);
  expect(out).toMatch(
    /"kind":"imitation","done":10,"total":100000,"loss":[\d.]+,"tries":\{"solved":\d,"expert":4,"played":4\}/,
  );
  expect(err).toMatch(
    /imitation step \d+ of 100000 is saved in stopped-run\. .*--resume stopped-run --env-file slow\.ts/,
  );
  expect(readFileSync(programs.at('stopped-run', 'environment.ts'), 'utf8')).toBe(NUMBERS);
});

// that an endless loop in it is stopped at its line: written/pythonSandbox
test('a class in Python is trained on, saved as environment.py, and asked for by that name', async () => {
  write('word.py', HIDDEN_WORD);
  const trained = await train(...NEW, '--env-file', 'word.py', '--updates', '1', '--save', 'word');
  expect(trained.code).toBe(0);
  expect(readFileSync(programs.at('word', 'environment.py'), 'utf8')).toBe(HIDDEN_WORD);
  const unnamed = await train('--resume', 'word', '--updates', '2');
  expect(unnamed.err).toContain('--env-file word/environment.py');
});

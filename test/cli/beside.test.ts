import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../formats/gguf.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { type Ended, type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn();
  writeFileSync(programs.at('tiny.gguf'), tinyGguf());
  writeFileSync(programs.at('other.gguf'), tinyGguf({ 'general.name': text('Other') }));
});
afterAll(() => programs.remove());

const STEPS = 8;
const RUN =
  `--preset smollm2-calculator --imitationSteps ${STEPS} --prompts 1 --groupSize 2 --maxTurns 3 --evalTasks 1 --updates 1 --save-every 1 --seed 5 --backend cpu`.split(
    ' ',
  );
const start = (...args: readonly string[]) => programs.start('train', args);
const hashOf = ({ out }: Ended) =>
  (JSON.parse(out.trim().split('\n').at(-1) ?? '') as { readonly parameters_hash: string }).parameters_hash;

test('a run beside a checkpoint that is ended while it imitates is saved there, asks for the same file, and goes on to the weights of one that was not', async () => {
  const whole = await start(...RUN, '--model', 'tiny.gguf', '--save', 'whole').ended;
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.err).toContain(`imitation ${STEPS}/${STEPS}`);
  const { child, ended } = start(...RUN, '--model', 'tiny.gguf', '--save', 'cut');
  while (!existsSync(programs.at('cut', 'playground.json'))) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGTERM');
  const { code, err } = await ended;
  expect(code).toBe(143);
  const step = Number(/Stopped; imitation step (\d+) of 8 is saved in cut\./.exec(err)?.[1]);
  expect(step).toBeGreaterThan(0);
  expect(step).toBeLessThan(STEPS);
  const [without, other] = await Promise.all([
    start('--resume', 'cut').ended,
    start('--resume', 'cut', '--model', 'other.gguf').ended,
  ]);
  expect(without.err).toMatch(/--model is missing\. Name a GGUF file/);
  expect(other.err).toMatch(/beside tiny\.gguf \(.*\)\. other\.gguf \(.*\) is another model/);
  const again = await start('--resume', 'cut', '--model', 'tiny.gguf').ended;
  expect(again.err).toContain(`Goes on after imitation step ${step} of 8 of cut.`);
  expect(again.err).not.toContain(`imitation ${step}/8`); // what is done is not done again
  expect(again.err).toContain(`imitation ${step + 1}/8`);
  expect(hashOf(again)).toBe(hashOf(whole));
});

import { expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { faultsOf } from '../../src/domain/checkFindings.ts';
import { EnvironmentFileError } from '../../src/domain/environmentFile.ts';
import { examine, readFile } from '../../src/written/examination.ts';
import { acting, sandboxOf } from './machine.ts';

const PLAYED = { reward: 0.25, episodeTokens: 90, prompts: 32, defaultPrompts: 32 };
const untrained = () => Promise.resolve(PLAYED);
const options = { seed: 1, onProgress: () => undefined, untrained };
const open = (source: string) => () => sandboxOf(source);
const file = (text: string) => ({ name: 'mine.ts', text });
const WORDS = readFileSync('public/environments/guessTheWord.ts', 'utf8');

test('a sound environment is played in full, says how far it is in order, and shows an episode of its expert', async () => {
  const shares: number[] = [];
  const found = await examine(file(WORDS), open(WORDS), {
    episodes: 100,
    seed: 1,
    onProgress: (share) => shares.push(share),
    untrained,
  });
  if (found.problem) throw new Error(found.problem.what);
  expect(found.stopped).toBe(false);
  expect(found.untrained).toBe(0.25);
  expect(found.report.episodes).toBe(300);
  expect(found.sample.by).toBe('expert');
  expect(found.sample.play.task).toEqual({ split: 'train', index: 0 });
  expect(found.sample.reward).toBeGreaterThanOrEqual(1);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(new Set(shares).size).toBeGreaterThan(40); // 4 players × 5 steps × 2 crossings or more, and 0 before
  expect(shares.at(-1)).toBe(1);
});

test('one whose episodes break is played on two tasks only: what never ends takes long each time', async () => {
  const source = acting('for (;;);');
  const found = await examine(file(source), open(source), { ...options, episodes: 1000 });
  if (found.problem) throw new Error(found.problem.what);
  expect(found.stopped).toBe(true);
  expect(found.untrained).toBeNull(); // nobody plays a broken one
  expect(found.report.findings[0]).toMatchObject({ kind: 'fault', line: expect.any(Number) as number });
  expect(found.report.episodes).toBe(4); // by chance and with nonsense; it has no expert
});

test('what keeps a file from being read or loaded has its line', async () => {
  const broken =
    'export default class A {\n  reset() { return "a" }\n  getReward() { return 1 }\n  act(a: Date): string {}\n}';
  expect(readFile(file(broken)).problem).toMatchObject({ line: 4 });
  expect(await examine(file(broken), open(broken), { ...options, episodes: 5 })).toMatchObject({
    problem: { line: 4 },
  });
  const thrower = acting('return "";', 'throw new Error("no");');
  expect(readFile(file(thrower)).problem).toBeNull();
  expect(await examine(file(thrower), open(thrower), { ...options, episodes: 5 })).toMatchObject({
    problem: { line: 1 },
  });
});

test.each([
  ['a fault if the file is the reason', new EnvironmentFileError('too long', 3), 'fault', 3],
  ['a warning if this machine is the reason: it keeps nobody from an export', new Error('5.3 GiB'), 'warning', null],
])('a model that cannot begin is %s', async (_, error, kind, line) => {
  const refused = () => Promise.reject(error);
  const found = await examine(file(WORDS), open(WORDS), { ...options, episodes: 10, untrained: refused });
  if (found.problem) throw new Error(found.problem.what);
  expect(found.untrained).toBeNull();
  expect(found.report.findings.at(-1)).toMatchObject({ kind, line });
  expect(found.report.findings.at(-1)?.text).toContain(kind === 'fault' ? 'too long' : '5.3 GiB');
  expect(faultsOf(found.report)).toHaveLength(kind === 'fault' ? 1 : 0);
});

test('a batch that had to be smaller is a warning with the tokens, and says what to shorten', async () => {
  const smaller = () => Promise.resolve({ ...PLAYED, episodeTokens: 1234, prompts: 16 });
  const found = await examine(file(WORDS), open(WORDS), { ...options, episodes: 10, untrained: smaller });
  if (found.problem) throw new Error(found.problem.what);
  expect(found.untrained).toBe(0.25);
  expect(found.report.findings.at(-1)?.text).toMatch(
    /1234 tokens.* takes 16 in a batch.*tool’s answer has up to \d+ characters/,
  );
});

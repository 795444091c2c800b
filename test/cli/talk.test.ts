import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { writeFolder } from '../../src/cli/diskFolders.ts';
import { type AskForm, wordsOfLine } from '../../src/domain/taskForm.ts';
import { open, packed, to } from '../checkpoints/runs.ts';
import { type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn();
  const running = await open({});
  await to(running, 1);
  await writeFolder(programs.at('agent'), checkpointFiles(await packed(running)));
});
afterAll(() => programs.remove());

const talk = (args: readonly string[], lines: string) => programs.start('talk', args, lines).ended;

test('a line is a task in the agent’s words, #N one by its number; what cannot be asked is told and the talk goes on', async () => {
  const { code, out, err } = await talk(['--checkpoint', 'agent', '--json'], '11\n99\n#4\n\n');
  const said = out.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
  expect(said).toHaveLength(3); // 11, #4, and #4 again
  expect(said[0]).toMatchObject({ question: 'Find the number from 0 to 15.', stop: expect.any(String) as unknown });
  expect((said[0]!['tokens'] as string[]).slice(0, 3)).toEqual(['<bos>', 'find', '<call>']);
  expect(err).toMatch(/^Hidden number can’t be “99”\. Use one of 16 words, such as 0, 1/);
  expect(code).toBe(1);
});

test('a folder that is not there, and a call without one, are told in a line', async () => {
  expect(await talk(['--checkpoint', 'none'], '')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^talk: .*none cannot be read: there is no such file or folder\./) as unknown,
  });
  expect(await talk([], '')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^--checkpoint is missing\. Name a folder or a zip\./) as unknown,
  });
});

describe('a line as words', () => {
  const blank = (optional: boolean) => ({ label: '', words: ['a'], optional });
  const form = (...optional: boolean[]): AskForm => ({ doc: '', blanks: optional.map(blank), example: [] });
  test.each([
    [[false], 'what is it, then', ['what is it, then']],
    [[false, false, false], '12 + 5', ['12', '+', '5']],
    [[false, true, true, false], 'boss friend ada', ['boss', 'friend', '', 'ada']],
    [[false, true, false], 'capital, South Korea', ['capital', '', 'South Korea']],
    [[false], '', ['']],
    [[false, true], 'a b c', ['a', 'b', 'c']],
  ])('%j and “%s” give %j', (blanks, line, words) => {
    expect(wordsOfLine(form(...blanks), line)).toEqual(words);
  });
});

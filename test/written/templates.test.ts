import { expect, test } from 'vitest';
import { checkEnvironment } from '../../src/written/checker.ts';
import { classSettings } from '../../src/written/classSettings.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { measureTexts } from '../../src/written/measuredTexts.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { isWeekly } from '../weekly.ts';
import { sandboxOf } from './machine.ts';
import { TEMPLATES } from './templates.ts';

test('there is a template for each kind of task', () => {
  expect(TEMPLATES.map(([name]) => name)).toEqual([
    'fourRooms.ts',
    'guessTheWord.ts',
    'keyValueStore.ts',
    'ticTacToe.ts',
    'tinyShop.ts',
    'yourQuestions.ts',
  ]);
});

test.each(TEMPLATES)(
  '%s has no finding: its expert earns .9 or more, chance less than half, nonsense less',
  async (_name, source) => {
    const declaration = readDeclaration(source);
    const report = await checkEnvironment(declaration, () => sandboxOf(source), {
      episodes: isWeekly ? 1000 : 100,
      seed: 1,
    });
    expect(report.findings).toEqual([]);
    expect(report.expert).toBeGreaterThanOrEqual(0.9);
    expect(report.chance).toBeLessThan(0.5);
    expect(report.nonsense).toBeLessThanOrEqual(0.1);
    expect(declaration.tools.every(({ description }) => description !== '')).toBe(true);
  },
);

const wordsIn = (text: string) => text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]+/gu) ?? [];

test.each(TEMPLATES)(
  '%s is short enough for a very small model: few tokens, few words in a text, few turns',
  async (_name, source) => {
    const declaration = readDeclaration(source);
    const sandbox = await sandboxOf(source);
    const settings = classSettings(sandbox.statics);
    const { prompts, observations } = measureTexts(sandbox, declaration, settings);
    const { vocabulary } = writtenEnvironment(declaration, sandbox, { chatTokenizer: null, think: false });
    sandbox.dispose();
    expect(settings.maxTurns).toBeLessThanOrEqual(6);
    expect(vocabulary.length).toBeLessThanOrEqual(120);
    expect(Math.max(...prompts.map((text) => wordsIn(text).length))).toBeLessThanOrEqual(15);
    expect(Math.max(...observations.map((text) => wordsIn(text).length))).toBeLessThanOrEqual(10);
  },
);

test('hardly a guest of yourQuestions.ts has a token of its own, so no answer can be learned by heart', async () => {
  const [, source = ''] = TEMPLATES.find(([name]) => name === 'yourQuestions.ts') ?? [];
  const sandbox = await sandboxOf(source);
  const { vocabulary } = writtenEnvironment(readDeclaration(source), sandbox, { chatTokenizer: null, think: false });
  sandbox.dispose();
  expect(vocabulary.filter((word) => /^\d{3}$/.test(word)).length).toBeLessThanOrEqual(3); // of 240
  expect(vocabulary).toContain('number0');
});

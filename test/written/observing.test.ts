import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { Role } from '../../src/domain/tokens.ts';
import { envSettings } from '../../src/envs/index.ts';
import { playToEnd } from '../../src/envs/players.ts';
import { languageOf, rowLength, rowsPerTurn } from '../../src/envs/rowsPerTurn.ts';
import { openEpisode } from '../../src/envs/stepper.ts';
import { observing } from '../../src/written/observing.ts';
import { openEpisodes } from '../../src/written/openEpisodes.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { sandboxOf } from './machine.ts';
import { NUMBERS } from './numbers.ts';

/** Says of every guess so far what was answered, in one text. */
const WITH_OBSERVE = NUMBERS.replace(
  '  expert()',
  `  observe(history) { return history.map((turn) => turn.tool + ' ' + turn.arguments.n + ' was ' + turn.answer).join(' and '); }
  expert()`,
);
const OBSERVES = parseConfig({ env: 'your-environment', rows: 'turn', shown: 'observe' });

describe('a class that says itself what a turn shows', () => {
  const open = async () => {
    const { tools } = readDeclaration(WITH_OBSERVE);
    return observing(await sandboxOf(WITH_OBSERVE), tools);
  };
  const task = { split: 'train', index: 0, chance: [1, 0, 0] } as const;

  test('is asked after each call, with the turns of that episode: refused ones too, those of others not', async () => {
    const sandbox = await open();
    const call = (id: number, n: number) => ({ op: 'call', id, tool: 'guess', values: [n] }) as const;
    sandbox.serve([
      { op: 'open', id: 1, ...task },
      { op: 'open', id: 2, ...task },
    ]);
    const [first, other] = sandbox.serve([call(1, 12), call(2, 11)]);
    expect(first).toMatchObject({ refused: 'At most 9.', observed: 'guess 12 was At most 9.' });
    expect(other?.observed).toBe('guess 11 was At most 9.');
    const [second] = sandbox.serve([call(1, 10)]);
    expect(second?.observed).toBe('guess 12 was At most 9. and guess 10 was At most 9.');
    sandbox.serve([{ op: 'open', id: 1, ...task }]);
    expect(sandbox.serve([call(1, 13)])[0]?.observed).toBe('guess 13 was At most 9.');
  });

  test('tells the same of an episode that was put away and goes on', async () => {
    const begin = openEpisodes(await open(), 1);
    const [first, second] = [begin(task), begin(task)];
    const guess = (n: number) => [{ op: 'call', tool: 'guess', values: [n] }] as const;
    first.ask(guess(12));
    second.ask(guess(10));
    expect(first.ask(guess(11))[0]?.observed).toBe('guess 12 was At most 9. and guess 11 was At most 9.');
  });

  test('fills each context: the prompt and what observe() returned, nothing else', async () => {
    const declaration = readDeclaration(WITH_OBSERVE);
    const env = writtenEnvironment(declaration, await sandboxOf(WITH_OBSERVE), languageOf(OBSERVES, null));
    const conditions = {
      ...{ env, settings: envSettings(OBSERVES), maxTokens: rowLength(OBSERVES, env), ...rowsPerTurn(OBSERVES) },
    };
    const stepper = openEpisode(conditions, { seed: 3, environmentSeed: 3 });
    // wrong on purpose, so that there are three turns
    const words = [
      '<call>',
      'guess',
      String((readHidden(stepper.episode.expert(), env.vocabulary) + 1) % 10),
      '</call>',
    ];
    playToEnd(stepper, () => words.map((word) => env.vocabulary.indexOf(word)));
    const starts = [...new Set(stepper.tokens.map(({ contextStart }) => contextStart))];
    const texts = starts.map((start) => {
      const read = stepper.tokens.filter(({ contextStart, role }) => contextStart === start && role !== Role.action);
      return read.map(({ token }) => word(token)).join(' ');
    });
    function word(id: number): string {
      return stepper.episode.names.get(id) ?? env.vocabulary[id] ?? '';
    }
    const n = words[2];
    const answer = /was (\w+)/.exec(texts[1] ?? '')?.[1];
    expect(answer).toMatch(/more|less/);
    const prompt = '<bos> train 3';
    const said = `guess ${n} was ${answer}`;
    expect(texts).toEqual([prompt, `${prompt} <obs> ${said} </obs>`, `${prompt} <obs> ${said} and ${said} </obs>`]);
  });

  test('has to have observe()', async () => {
    const made = async () =>
      writtenEnvironment(readDeclaration(NUMBERS), await sandboxOf(NUMBERS), languageOf(OBSERVES, null));
    await expect(made).rejects.toThrow('this class has no observe(). Add observe(history), or set shown');
  });
});

const readHidden = (ids: readonly number[], vocabulary: readonly string[]): number =>
  Number(ids.map((id) => vocabulary[id]).find((word) => /^\d$/.test(word ?? '')));

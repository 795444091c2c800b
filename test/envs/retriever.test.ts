import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { expertPlayer, playToEnd, rulePlayer } from '../../src/envs/players.ts';
import { openEpisode } from '../../src/envs/stepper.ts';

const TASKS = 600;
const configOf = (retriever: 'agent' | 'first' | 'question') => parseConfig({ env: 'multi-hop', retriever });

/** Share of held-out tasks that the expert solves, and their turns. */
function expertSolves(retriever: 'agent' | 'first' | 'question') {
  const config = configOf(retriever);
  const env = createEnv(config);
  const settings = envSettings(config);
  let solved = 0;
  let turns = 0;
  for (let seed = 0; seed < TASKS; seed++) {
    const table = { env, settings, begin: env.splits.heldOut!.reset };
    const { success, finishedTurns: taken } = playToEnd(
      openEpisode(table, { seed, environmentSeed: seed }),
      expertPlayer,
    );
    turns += taken.length;
    if (success) solved++;
  }
  return { solved: solved / TASKS, turns: turns / TASKS };
}

describe('naive RAG that can be trained', () => {
  test('has one turn; the first fact caps a perfect reader at the one-hop questions, facts like the question a little above', () => {
    expect(expertSolves('agent')).toMatchObject({ solved: 1 });
    const first = expertSolves('first');
    const question = expertSolves('question');
    expect([first.turns, question.turns]).toEqual([1, 1]);
    // .15 of the questions take one hop, and one answer in twelve is right by luck; 4 standard errors of 600 draws are .07
    expect(first.solved).toBeGreaterThan(0.14);
    expect(first.solved).toBeLessThan(0.32);
    expect(question.solved).toBeGreaterThan(first.solved);
    expect(question.solved).toBeLessThan(0.5);
  });

  test('training tasks, too, have their facts in the prompt and never those held out', () => {
    const env = createEnv(configOf('question'));
    const settings = envSettings(configOf('question'));
    const keys = (begin: typeof env.reset) => Array.from({ length: 300 }, (_, seed) => begin(seed, settings).key);
    const held = new Set(keys(env.splits.heldOut!.reset));
    expect(keys(env.reset).filter((key) => held.has(key))).toEqual([]);
    const words = [...env.reset(5, settings).prompt].map((id) => env.vocabulary[id]);
    // three searches would bring three facts of three words
    const [from, to] = [words.indexOf('<obs>'), words.indexOf('</obs>')];
    expect(to - from - 1).toBe(9);
    expect(words).not.toContain('<call>');
  });
});

describe('a simple rule', () => {
  const solves = (env: 'frozen-lake' | 'sokoban' | 'multi-hop' | 'bandit') => {
    const config = parseConfig({ env, maxTurns: env === 'frozen-lake' || env === 'sokoban' ? 8 : 4 });
    const made = createEnv(config);
    const settings = envSettings(config);
    let solved = 0;
    for (let seed = 0; seed < TASKS; seed++) {
      if (playToEnd(openEpisode({ env: made, settings }, { seed, environmentSeed: seed }), rulePlayer).success)
        solved++;
    }
    return solved / TASKS;
  };

  test('gets as far as it looks: to the goal over ice, round no wall, one hop far', () => {
    expect(solves('frozen-lake')).toBeGreaterThan(0.6);
    expect(solves('frozen-lake')).toBeLessThan(0.75);
    expect(solves('sokoban')).toBeGreaterThan(0.3);
    expect(solves('sokoban')).toBeLessThan(0.95);
    expect(solves('multi-hop')).toBeLessThan(0.35);
    expect(solves('bandit')).toBe(0.5); // all eight tasks as often
  });
});

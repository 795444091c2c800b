import { describe, expect, it } from 'vitest';
import { parseArguments, resumedConfig, USAGE } from '../../src/cli/arguments.ts';
import { FIELDS } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { problemText } from '../../src/base/problem.ts';

const errorOf = (...args: string[]): ConfigError => {
  try {
    parseArguments(args);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('want a ConfigError');
};
const problemsOf = (...args: string[]) => errorOf(...args).problems.map(problemText);

describe('the arguments of train', () => {
  it('overlay knobs on a preset, whose own number of updates is the default', () => {
    const { config, json } = parseArguments(['--preset', 'multi-hop', '--seed', '9', '--set', 'klCoef=0.01', '--json']);
    expect(config).toMatchObject({ env: 'multi-hop', seed: 9, klCoef: 0.01, critic: 'separate' });
    expect(json).toBe(true);
    expect(parseArguments(['--preset', 'multi-hop', '--updates', '3']).config.updates).toBe(3);
    expect(parseArguments(['--env', 'bandit']).config.env).toBe('bandit'); // every knob is a flag, too
    expect(parseArguments([]).config).toMatchObject({ env: 'number-hunt', backend: 'auto' });
  });

  it('take a file of facts, which is a preset of its own', () => {
    const { config, facts } = parseArguments(['--facts', 'my.csv', '--seed', '3']);
    expect(facts).toBe('my.csv');
    expect(config).toMatchObject({ env: 'your-facts', critic: 'separate', seed: 3 });
    expect(parseArguments(['--preset', 'multi-hop-grpo', '--facts', 'my.csv']).config).toMatchObject({
      env: 'your-facts',
      critic: 'shared',
      processReward: 0.5,
    });
    expect(parseArguments([]).facts).toBeNull();
    expect(problemsOf('--facts', 'my.csv', '--env', 'bandit')[0]).toMatch(
      /--facts only works with --env your-facts, not with bandit/,
    );
    expect(problemsOf('--facts')[0]).toMatch(/--facts needs a value/);
  });

  it('take the file of an environment that a person wrote, which is the task: no preset and no facts beside it', () => {
    const { config, envFile } = parseArguments(['--env-file', 'mine.ts', '--updates', '9']);
    expect(envFile).toBe('mine.ts');
    expect(config).toMatchObject({ env: 'your-environment', language: 'words', updates: 9 });
    expect(problemsOf('--env-file', 'mine.ts', '--preset', 'multi-hop')[0]).toMatch(
      /--preset multi-hop can’t be combined with/,
    );
    expect(problemsOf('--env-file', 'mine.ts', '--facts', 'my.csv')[0]).toMatch(
      /--facts my\.csv can’t be combined with/,
    );
    expect(problemsOf('--env-file', 'mine.ts', '--env', 'calculator')[0]).toMatch(
      /can’t be combined with --env calculator/,
    );
    expect(parseArguments(['--resume', 'run', '--env-file', 'mine.ts']).envFile).toBe('mine.ts');
  });

  it('take the address of a server, which has the tasks and is called in text: no preset in words, no facts and no file beside it', () => {
    const server = ['--env-server', 'ws://127.0.0.1:8000/ws'];
    expect(parseArguments(server)).toMatchObject({ envServer: server[1], config: { language: 'text' } });
    expect(problemsOf(...server, '--preset', 'number-hunt').join()).toMatch(/called in text/);
    for (const [flag, value] of [
      ['--facts', 'a.csv'],
      ['--env-file', 'a.ts'],
    ] as const)
      expect(problemsOf(...server, flag, value)[0]).toMatch(/combined with --env-server/);
  });

  it('name what exists when a preset, a flag or a knob does not', () => {
    expect(problemsOf('--preset', 'chess')).toEqual([
      expect.stringMatching(/--preset can’t be chess\. Use one of number-hunt, multi-hop/),
    ]);
    expect(problemsOf('--fast')[0]).toMatch(/--fast: no such flag\. Have --preset/);
    expect(problemsOf('--lerning-rate', '.01')[0]).toMatch(
      /^--lerning-rate: no such flag\. Did you mean --learningRate\? Have/,
    );
    expect(problemsOf('fast')[0]).toMatch(/^fast: no such flag/);
    expect(problemsOf('--fast', '9')).toHaveLength(1); // its value is no second problem
    expect(problemsOf('--set', 'velocity=9')[0]).toMatch(/there is no knob velocity\. The knobs are env, range/);
    expect(problemsOf('--set', 'groupsize=4')[0]).toMatch(/there is no knob groupsize\. Did you mean groupSize\?/);
    expect(problemsOf('--set', 'speed')[0]).toMatch(/Use knob=value/);
  });

  it('report every problem at once, missing values too', () => {
    expect(problemsOf('--seed', '--json', '--preset', 'chess', '--updates')).toHaveLength(3);
  });

  it('are told apart into what is wrong and what to do; how the command is called follows, and is no problem', () => {
    const { problems, message } = errorOf('--set', 'velocity=9', '--save-every', '0');
    expect(problems).toMatchObject([
      {
        place: '--set',
        what: 'there is no knob velocity.',
        remedy: `The knobs are ${Object.keys(FIELDS).join(', ')}.`,
      },
      { what: '--save-every can’t be 0.', remedy: 'Use a whole number of updates from 1.' },
    ]);
    expect(message).toBe([...problems.map(problemText), USAGE].join('\n'));
  });

  it('say once what to do about several problems of a kind', () => {
    const remedy = 'Use knob=value, such as learningRate=0.001.';
    expect(errorOf('--set', 'a', '--set', 'b').message).toBe(
      `--set can’t be a.\n--set can’t be b.\n${remedy}\n${USAGE}`,
    );
    const { config } = parseArguments(['--preset', 'multi-hop']);
    expect(() => resumedConfig(config, { seed: 98, prompts: 99 }, 0)).toThrow(
      `seed can’t be 98: the run was saved with ${config.seed}.\nprompts can’t be 99: the run was saved with ${config.prompts}.\nLeave it out, or begin another run.`,
    );
    expect(() => resumedConfig(config, { updates: 1 }, 2)).toThrow('updates can’t be 1: 2 are done. Use 2 or more.');
  });

  it('refuse values out of range and impossible combinations', () => {
    expect(problemsOf('--seed', '1.5')[0]).toMatch(/seed: 1\.5 isn’t a whole number/);
    expect(problemsOf('--backend', 'quantum')[0]).toMatch(/isn’t one of auto, gpu, cpu/);
    expect(problemsOf('--set', 'heads=3')[0]).toMatch(
      /heads: 3, but width 32 must be a multiple of it\. Choose a divisor/,
    );
  });
});

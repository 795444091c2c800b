import { expect, test } from 'vitest';
import { untrainedReward } from '../../src/session/untrainedReward.ts';
import { openWritten } from '../../src/written/openWritten.ts';
import { machine } from './machine.ts';

/** Two numbers to choose from, one turn. */
const choosing = (reward: string) => `/** Say a number. */
export default class Choosing {
  static tasks = { train: 1000, test: 10 };
  static maxTurns = 1;
  static weights = { right: 2 };
  private hidden = 0;
  private said = -1;
  reset({ draw }): string {
    this.hidden = draw.int(2);
    return 'number ' + this.hidden;
  }
  /** Says a number. */
  say(n: number): string {
    this.said = n;
    return 'ok';
  }
  expert() { return { tool: 'say', arguments: { n: this.hidden } }; }
  getReward() { return { right: ${reward} }; }
}
`;
const earned = (reward: string) => {
  const file = { name: 'choosing.ts', text: choosing(reward) };
  const { environment } = openWritten(file, {
    quickjsWasm: () => Promise.resolve(machine),
    startPython: () => {
      throw new Error('no Python here');
    },
  });
  const played = untrainedReward(1, {
    ...{ ownEnvironment: environment, now: () => performance.now() },
    yieldToEvents: () => Promise.resolve(),
  });
  return played.then(({ reward: mean }) => mean);
};

test('where every call is paid, a model with random weights earns the weighted reward', async () => {
  expect(await earned('1')).toBe(2);
});

test('where one of two numbers is right, it earns about half of it', async () => {
  const mean = await earned('this.said === this.hidden ? 1 : 0');
  // a batch has 256 rollouts: a share of .5 spreads by .031; the model itself may lean to one number, the tasks don't
  expect(mean).toBeGreaterThan(2 * 0.35);
  expect(mean).toBeLessThan(2 * 0.65);
});

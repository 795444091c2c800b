import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { ESTIMATORS, type Estimator } from '../../src/config/estimators.ts';
import type { MaskSwitches } from '../../src/model/learningSettings.ts';
import { legalTokens, openEpisode } from '../../src/envs/stepper.ts';
import { lastingEnv, SETTINGS } from './lastingEnv.ts';
import { turnEnds } from '../../src/domain/tokenMasks.ts';
import { creditSettings } from '../../src/rl/settings.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { close, creditOf, off, ON } from './worked.ts';

describe('choices of one', () => {
  it('are made in the states where one token is legal, not in those with none or several', () => {
    const next = Int32Array.from([0, 0, 0, -1, 3, -1, -1, -1, -1, 1, -1, 1]);
    const grammar = { states: 4, vocabulary: 3, next, stop: new Uint8Array(4) };
    expect([0, 1, 2, 3].map((state) => legalTokens(grammar, state))).toEqual([[0, 1, 2], [1], [], [0, 2]]);
    const stepper = openEpisode({ env: lastingEnv(grammar, 9), settings: SETTINGS }, { seed: 1, environmentSeed: 1 });
    for (const token of [1, 0, 1]) stepper.take(token);
    const drawn = stepper.tokens.filter(({ role }) => role === Role.action);
    expect(drawn.map(({ grammarState: state, onlyLegal: single }) => [state, single])).toEqual([
      [1, true],
      [3, false],
      [1, true],
    ]);
  });

  it('follow their knob, off unless asked for', () => {
    expect(creditSettings(parseConfig(), 0, 1).choicesOnly).toBe(false);
    expect(creditSettings(parseConfig({ choiceMask: 'on' }), 0, 1).choicesOnly).toBe(true);
  });

  const agent = [[2, 2, 2, 2]];
  const lone = { singles: [0, 1, 1, 0] };

  it('cost credit λ and γ while they count, and nothing when they are left out', () => {
    const decay = { lambda: 0.5, gamma: 0.9, whiten: false };
    const counted = creditOf(agent, [0, 0, 0, 1], decay, lone).advantages;
    close(counted, [0.45 ** 3, 0.45 ** 2, 0.45, 1], 1e-12);
    const left = creditOf(agent, [0, 0, 0, 1], { ...decay, choicesOnly: true }, lone);
    close(left.advantages, [0.45, 0, 0, 1], 1e-12);
    const { observation, ...masks } = left.masks; // no observation, so nothing of one
    expect([...observation]).toEqual([0, 0, 0, 0]);
    for (const mask of Object.values<Float32Array>(masks)) expect([...mask]).toEqual([1, 0, 0, 1]);
  });

  it('hand what they are paid to the choice before them, and to the score of their row', () => {
    const paid = { whiten: false, choicesOnly: true } as const;
    close(creditOf(agent, [0, 0, 1, 0], paid, lone).advantages, [1, 0, 0, 0], 1e-12);
    // the first row's reward lies before any choice: no choice made it, but the group sees it
    const two = [agent[0]!, agent[0]!];
    const singles = [1, 0, 0, 0, 1, 0, 0, 0];
    const rewards = [1, 0, 0, 0, 0, 0, 0, 0];
    expect([...creditOf(two, rewards, paid, { singles }).advantages]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    const grouped = creditOf(two, rewards, { ...paid, estimator: 'rloo' }, { singles, groups: [0, 0] });
    close(grouped.advantages, [0, 1, 1, 1, 0, -1, -1, -1], 1e-12);
  });

  it('end no turn: the last choice before them does, and a turn of none has no end', () => {
    const roles = Uint8Array.from([2, 2, 2, 3, 2, 2, 3, 2, 2, 2]);
    const mask = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0];
    expect([...turnEnds({ roles, length: 10 }, mask)]).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 1, 0]);
  });

  describe.each(Object.keys(ESTIMATORS) as Estimator[])('for %s', (estimator) => {
    it.each([
      ['all masks on', ON],
      ['observations in every mask', off('advantage', 'whiten', 'value', 'policy', 'regularizer')],
      ['observations in the loss', off('policy', 'regularizer')],
    ] as const)('left out, all is as in a record without them: %s', (_, masks: MaskSwitches) => {
      const draw = random(29, Purpose.environment);
      const [rows, length] = [6, 24];
      // the first token is a choice, so that every reward has one before it
      const roles = Array.from({ length: rows }, () =>
        Array.from({ length }, (_each, t) => (t === 0 || draw.next() < 0.7 ? Role.action : Role.observation)),
      );
      const numbers = () => Array.from({ length: rows * length }, () => draw.normal());
      const [values, rewards] = [numbers(), numbers()];
      const singles = roles
        .flat()
        .map((role, i) => (role === Role.action && i % length > 0 && draw.next() < 0.6 ? 1 : 0));
      const groups = [0, 0, 1, 1, 1, 2];
      // the same turn of the rollouts of a group, compared by estimators of turns
      const states = roles.flatMap((row, b) =>
        row.map(
          (_each, t) =>
            100 * groups[b]! +
            row.slice(0, t).filter((r, at) => r === Role.observation && row[at + 1] === Role.action).length,
        ),
      );
      const settings = { estimator, masks, gamma: 0.9, lambda: 0.8, turnGamma: 0.7, divideByStd: false };
      const given = { groups, solved: [1, 0, 1, 0, 0, 1] };
      const got = creditOf(
        roles,
        rewards,
        { ...settings, choicesOnly: true },
        { ...given, values, singles, states, progress: rewards },
      );

      // The same with those tokens cut out by hand; a reward moves to the token before that the advantage mask holds.
      const kept = roles.map((row, b) => row.flatMap((_each, t) => (singles[b * length + t] === 1 ? [] : [t])));
      const cut = kept.map((at, b) => [
        ...at.map((t) => roles[b]![t]!),
        ...new Array<number>(length - at.length).fill(Role.pad),
      ]);
      const place = new Map(kept.flatMap((at, b) => at.map((t, k) => [b * length + t, b * length + k] as const)));
      const moved = {
        rewards: new Array<number>(rows * length).fill(0),
        values: new Array<number>(rows * length).fill(0),
        states: new Array<number>(rows * length).fill(-1),
      };
      let last = 0;
      for (const [i, role] of roles.flat().entries()) {
        const to = place.get(i);
        if (to !== undefined) [moved.values[to], moved.states[to]] = [values[i]!, states[i]!];
        if (to !== undefined && (role === Role.action || !masks.advantage)) last = to;
        if (role === Role.action || !masks.advantage) moved.rewards[last]! += rewards[i]!;
      }
      const want = creditOf(cut, moved.rewards, settings, { ...given, ...moved, progress: moved.rewards });
      for (const table of ['advantages', 'returns'] as const) {
        const back = got[table].map((_each, i) => (place.has(i) ? want[table][place.get(i)!]! : 0));
        close(got[table], [...back], 1e-9);
        if (table === 'advantages') expect(Math.max(...back.map(Math.abs)) > 0.1).toBe(estimator !== 'none');
      }
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/model/policy.ts';
import { inputDependence, measureInputDependence } from '../../src/rl/inputDependence.ts';
import { type EpisodeRecord, episodeRecord } from '../../src/rl/episodeRecord.ts';
import { random } from '../../src/base/rng.ts';
import { Role, type TokenRecord } from '../../src/domain/tokens.ts';

const N = 9;
/** log-probabilities of N turns under N contexts, drawn anew for every pair. */
function noise(seed: number, scale: number): number[][] {
  const draw = random(seed, 8);
  return Array.from({ length: N }, () => Array.from({ length: N }, () => -4 + scale * draw.normal()));
}

describe('input dependence', () => {
  test('turns that could only follow their own context carry log N nats, and no more can be carried', () => {
    const certain = Array.from({ length: N }, (_, i) => Array.from({ length: N }, (_c, j) => (i === j ? -1 : -400)));
    const { mutualInformation, retrievalAccuracy, chance } = inputDependence(certain);
    expect(mutualInformation).toBeCloseTo(Math.log(N), 12);
    expect(retrievalAccuracy).toBe(1);
    expect(chance).toBe(1 / N);
    for (let seed = 1; seed <= 50; seed++) {
      expect(inputDependence(noise(seed, 30)).mutualInformation).toBeLessThanOrEqual(Math.log(N));
    }
  });

  test('turns that ignore what was read carry nothing, and are found again by chance only', () => {
    const deaf = Array.from({ length: N }, (_, i) => new Array<number>(N).fill(-2 - i));
    const { mutualInformation, retrievalAccuracy } = inputDependence(deaf);
    // rounding of nine exps
    expect(mutualInformation).toBeCloseTo(0, 12);
    expect(retrievalAccuracy).toBeCloseTo(1 / N, 12);
  });

  test('handing the turns to the wrong contexts leaves no information on average', () => {
    // each turn is 3 nats likelier after its own context; shifting the columns by one undoes that
    const bound = (shift: number) =>
      Array.from({ length: N }, (_, i) => Array.from({ length: N }, (_c, j) => (j === (i + shift) % N ? -1 : -4)));
    expect(inputDependence(bound(0)).mutualInformation).toBeGreaterThan(0.8);
    expect(inputDependence(bound(1)).mutualInformation).toBeLessThan(0);
    expect(inputDependence(bound(1)).retrievalAccuracy).toBe(0);
  });

  test('two contexts, worked by hand: ½·(log(.8/.5) + log(.6/.5)) nats', () => {
    const likelihood = [
      [Math.log(0.8), Math.log(0.2)],
      [Math.log(0.4), Math.log(0.6)],
    ];
    expect(inputDependence(likelihood).mutualInformation).toBeCloseTo((Math.log(1.6) + Math.log(1.2)) / 2, 12);
  });
});

describe('measured on a batch, input dependence', () => {
  // Row b: prompt [1, 10 + b], a turn [30 + b, 3], an observation [20 + b], a turn [40 + b, 3, 3].
  const T = 9;
  function batch(rows: number, same = false): EpisodeRecord {
    const record = episodeRecord(rows, T);
    for (let row = 0; row < rows; row++) {
      const b = same ? 0 : row;
      const write = (role: Role, ...tokens: number[]) => {
        for (const token of tokens)
          record.push(row, token, { role, turn: 1, grammarState: role === Role.action ? 5 : 0, logprob: 0 });
      };
      write(Role.prompt, 1, 10 + b);
      write(Role.action, 30 + b, 3);
      write(Role.observation, 20 + b);
      write(Role.action, 40 + b, 3, 3);
    }
    return record;
  }

  /** A policy for which a turn is e⁻¹ a token after its own context and e⁻⁴⁰⁰ after any other; it notes what it is asked. */
  function listener(rows: number, length = T) {
    const asked: unknown[] = [];
    let loaded: TokenRecord | null = null;
    const rowsOf = () => {
      if (!loaded) throw new Error('report before load');
      const { tokens, roles, states } = loaded;
      return Array.from({ length: rows }, (_, row) => {
        const cut = (array: ArrayLike<number>) => Array.from(array).slice(row * length, (row + 1) * length);
        return { tokens: cut(tokens), roles: cut(roles), states: cut(states) };
      });
    };
    const policy = {
      rows,
      length,
      load: (record: TokenRecord) => {
        loaded = record;
      },
      score: (...how: unknown[]) => asked.push(how),
      report: () => {
        const logprobs = rowsOf().flatMap(({ tokens, roles }) => {
          const start = roles.indexOf(Role.action);
          const turn = tokens[start]!;
          const own = turn < 40 ? start === 2 && tokens[1] === turn - 20 : start === 5 && tokens[4] === turn - 20;
          return roles.map((role) => (role !== Role.action ? -1000 : own ? -1 : -400));
        });
        return Promise.resolve({ logprobs: Float32Array.from(logprobs) });
      },
    };
    return { policy: policy as unknown as Policy, asked, rowsOf };
  }
  const draw = { seed: 3, update: 2, temperature: 0.7 };

  test('crosses each turn with every context: as many as the root of the rows, each found again by its own', async () => {
    const { policy, asked, rowsOf } = listener(17);
    const values = await measureInputDependence(policy, batch(4), draw);
    expect(values['collapse/mi_seq_estimate']).toBeCloseTo(Math.log(4), 6);
    expect(values['collapse/retrieval_accuracy']).toBe(1);
    expect(values['collapse/retrieval_chance_level']).toBe(1 / 4);
    expect(asked).toEqual([[0.7, { reference: false, values: false }]]);
    const rows = rowsOf();
    const used = rows.filter(({ roles }) => roles.includes(Role.action));
    expect(used).toHaveLength(16);
    const turns = new Set(used.map(({ tokens, roles }) => tokens.filter((_, t) => roles[t] === Role.action).join(' ')));
    const contexts = new Set(used.map(({ tokens, roles }) => tokens.slice(0, roles.indexOf(Role.action)).join(' ')));
    expect([turns.size, contexts.size]).toEqual([4, 4]);
    for (const turn of turns) expect(turn).toMatch(/^(?:3\d 3|4\d 3 3)$/); // whole turns, nothing else
    for (const { roles, states } of used) {
      expect(roles.slice(0, 2)).toEqual([Role.prompt, Role.prompt]);
      // a turn is scored in the grammar state it was drawn in
      expect(states.filter((_, t) => roles[t] === Role.action)).toEqual(
        roles.flatMap((r) => (r === Role.action ? [5] : [])),
      );
    }
  });

  test('both turns of an episode may be chosen, and two are enough', async () => {
    const { policy, rowsOf } = listener(4);
    const values = await measureInputDependence(policy, batch(1), draw);
    expect(values['collapse/mi_seq_estimate']).toBeCloseTo(Math.log(2), 6);
    expect(new Set(rowsOf().map(({ roles }) => roles.indexOf(Role.action)))).toEqual(new Set([2, 5]));
  });

  test('contexts that read the same are one, and of fewer than two nothing is said', async () => {
    const { policy, asked } = listener(9);
    const values = await measureInputDependence(policy, batch(6, true), draw);
    expect(values['collapse/retrieval_chance_level']).toBe(1 / 2); // two turns of one episode, played six times
    expect(asked).toHaveLength(1);
    expect(await measureInputDependence(listener(3).policy, batch(4), draw)).toEqual({});
  });

  test('a turn that does not fit behind a context is cut at the end of the row', async () => {
    const { policy, rowsOf } = listener(4, 7);
    await measureInputDependence(policy, batch(1), draw);
    const longest = rowsOf().find(({ roles, tokens }) => roles.indexOf(Role.action) === 5 && tokens[5] === 40)!;
    expect(longest.tokens).toEqual([1, 10, 30, 3, 20, 40, 3]);
  });
});

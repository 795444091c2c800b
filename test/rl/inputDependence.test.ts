import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/model/policy.ts';
import {
  exactInputDependence,
  inputDependence,
  measureInputDependence,
  legalTurns,
} from '../../src/rl/inputDependence.ts';
import { type EpisodeRecord, episodeRecord } from '../../src/rl/episodeRecord.ts';
import { parseConfig } from '../../src/config/config.ts';
import { buildGrammar } from '../../src/envs/grammar.ts';
import { createEnv } from '../../src/envs/index.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { trainingTasks } from '../../src/rl/trainer.ts';
import { modelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { tokenLogprobs } from '../../src/analysis/tokenDistribution.ts';
import { random } from '../../src/base/rng.ts';
import { freeGrammar, Role, type TokenRecord } from '../../src/domain/tokens.ts';

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

describe('exact input dependence', () => {
  const logs = (...rows: readonly (readonly number[])[]) =>
    rows.map((row) => new Map(row.map((p, z) => [`${z}`, Math.log(p)])));

  test('by hand: two tasks with a certain turn each carry log 2 nats; the same turns for both carry none', () => {
    const certain = exactInputDependence(logs([1, 0], [0, 1]));
    expect(certain.mutualInformation).toBeCloseTo(Math.log(2), 12);
    expect(certain.conditionalEntropy).toBe(0);
    const same = exactInputDependence(logs([0.3, 0.7], [0.3, 0.7]));
    expect(same.mutualInformation).toBeCloseTo(0, 12);
    expect(same.conditionalEntropy).toBeCloseTo(-0.3 * Math.log(0.3) - 0.7 * Math.log(0.7), 12);
    // turns that only one task allows are impossible in the other
    expect(exactInputDependence([new Map([['a', 0]]), new Map([['b', 0]])]).mutualInformation).toBeCloseTo(Math.log(2), 12); // prettier-ignore
    const drawn = inputDependence([[Math.log(0.3), Math.log(0.3)], [Math.log(0.7), Math.log(0.7)]]); // prettier-ignore
    expect([drawn.mutualInformation, drawn.retrievalAccuracy]).toEqual([expect.closeTo(0, 12), 0.5]);
  });

  test('equals the Jensen–Shannon divergence, and a drawn estimate lies within two of its errors in at least 92 of 100 batches', () => {
    const draw = random(4, 8);
    const [tasks, turns] = [16, 12];
    const p = Array.from({ length: tasks }, () => {
      const weights = Array.from({ length: turns }, () => Math.exp(2 * draw.normal()));
      return weights.map((w) => w / weights.reduce((a, b) => a + b, 0));
    });
    const mixture = (z: number) => p.reduce((sum, row) => sum + row[z]!, 0) / tasks;
    const divergence = p.flatMap((row) => row.map((q, z) => (q * Math.log(q / mixture(z))) / tasks));
    const { mutualInformation, conditionalEntropy } = exactInputDependence(logs(...p));
    expect(mutualInformation).toBeCloseTo(
      divergence.reduce((a, b) => a + b, 0),
      12,
    ); // 0.92 nats
    const drawn = Array.from({ length: 400 }, () => {
      const zs = p.map((row) => {
        let left = draw.next();
        return Math.max(
          0,
          row.findIndex((q) => (left -= q) < 0),
        );
      });
      return inputDependence(zs.map((z) => p.map((row) => Math.log(row[z]!))));
    });
    const near = drawn.filter((d) => Math.abs(d.mutualInformation - mutualInformation) < 2 * d.standardError);
    expect(near.length / 400).toBeGreaterThan(0.92);
    expect(near.length / 400).toBeLessThan(1);
    // the mean of 400 estimates has a twentieth of their spread
    for (const [name, exact] of Object.entries({ mutualInformation, conditionalEntropy })) {
      const values = drawn.map((d) => d[name as 'mutualInformation' | 'conditionalEntropy']);
      expect(Math.abs(values.reduce((a, b) => a + b, 0) / 400 - exact)).toBeLessThan(0.05);
    }
  });

  test('lists the legal turns of a grammar, or none of them if there are too many, one is cut off or has no end', () => {
    // 0 free; a or b, then c, then the end; d leads back; e leads nowhere
    const { grammar, state } = buildGrammar(5, [
      { name: 'turn', edges: [[[0, 1], 'rest']] },
      { name: 'rest', edges: [[[2], 'end']] },
      { name: 'loop', edges: [[[3], 'loop'], [[2], 'end']] }, // prettier-ignore
      { name: 'stuck', edges: [[[4], 'nowhere'], [[2], 'end']] }, // prettier-ignore
      { name: 'nowhere', edges: [] },
      { name: 'end', stop: true, edges: [] },
    ]);
    const states = [state('turn'), state('rest')];
    expect(legalTurns(grammar, state('turn'), 2, 2)).toEqual([
      { tokens: [0, 2], states },
      { tokens: [1, 2], states },
    ]);
    expect(legalTurns(grammar, state('turn'), 2, 1)).toBeNull();
    expect(legalTurns(grammar, state('turn'), 1, 2)).toBeNull();
    for (const name of ['loop', 'stuck']) expect(legalTurns(grammar, state(name), 4, 9)).toBeNull();
  });

  test('of a network on multi-hop search, it is the sum over the tree of first turns, worked out token by token', async () => {
    const config = parseConfig({ env: 'multi-hop', prompts: 4, groupSize: 8, layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 32, temperature: 0.8 }); // prettier-ignore
    const env = createEnv(config);
    const model = modelConfig(config, env.vocabulary.length, false);
    const spec = { model, critic: 'none', rows: 32, length: env.maxTokens, minibatchRows: 32 } as const;
    const policy = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
    const { record } = await rollout(policy, env, trainingTasks(policy, config, 1), () => Promise.resolve());
    const grammar = env.grammar(true);
    const { temperature, seed } = config;
    const options = { seed, update: 1, temperature, grammar, maxTurnTokens: env.maxTurnTokens };
    const values = await measureInputDependence(policy, record, options);

    const prompts = new Map([0, 8, 16, 24].map((row) => [firstPrompt(record, row).join(' '), row]));
    expect(Math.exp(values['collapse_first_turn_sample/mi_upper_bound']!)).toBeCloseTo(prompts.size, 9);
    const tree: Map<string, number>[] = [];
    for (const row of prompts.values()) {
      const found = new Map<string, number>();
      tree.push(found);
      const prompt = firstPrompt(record, row);
      const walk = async (state: number, turn: readonly number[], l: number): Promise<void> => {
        if (grammar.stop[state]) return void found.set(turn.join(' '), l);
        const tokens = new Int32Array(32 * env.maxTokens);
        tokens.set([...prompt, ...turn]);
        const roles = new Uint8Array(tokens.length).fill(Role.prompt, 0, prompt.length + turn.length);
        policy.load({ tokens, roles, states: new Uint8Array(tokens.length) });
        const logprobs = await tokenLogprobs(policy, grammar, state, prompt.length + turn.length, temperature);
        for (const [token, each] of logprobs.entries()) {
          if (each > -Infinity)
            await walk(grammar.next[state * grammar.vocabulary + token]!, [...turn, token], l + each);
        }
      };
      await walk(record.states[row * record.length + prompt.length]!, [], 0);
    }
    for (const each of tree) {
      expect(each.size).toBe(48);
      expect([...each.values()].reduce((sum, l) => sum + Math.exp(l), 0)).toBeCloseTo(1, 5);
    }
    const want = exactInputDependence(tree);
    // float32 log-probabilities
    expect(values['collapse_first_turn_exact/mi_seq']).toBeCloseTo(want.mutualInformation, 6);
    expect(values['collapse_first_turn_exact/conditional_entropy_seq']).toBeCloseTo(want.conditionalEntropy, 5);
    expect(want.mutualInformation).toBeGreaterThan(0.001);
    policy.destroy();
  });
});

const firstPrompt = ({ tokens, roles, length }: EpisodeRecord, row: number) =>
  [...tokens.subarray(row * length, (row + 1) * length)].slice(0, roles.subarray(row * length).indexOf(Role.action));

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
    const loaded: TokenRecord[] = [];
    const rowsOf = (record = loaded[0]) => {
      if (!record) throw new Error('report before load');
      const { tokens, roles, states } = record;
      return Array.from({ length: rows }, (_, row) => {
        const cut = (array: ArrayLike<number>) => Array.from(array).slice(row * length, (row + 1) * length);
        return { tokens: cut(tokens), roles: cut(roles), states: cut(states) };
      });
    };
    const policy = {
      rows,
      length,
      load: (record: TokenRecord) => loaded.push(record),
      score: (...how: unknown[]) => asked.push(how),
      report: () => {
        const logprobs = rowsOf(loaded.at(-1)).flatMap(({ tokens, roles }) => {
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
  // turns are drawn in state 5, which this grammar doesn't have, so they can't be listed
  const draw = { seed: 3, update: 2, temperature: 0.7, grammar: freeGrammar(50), maxTurnTokens: 4 };

  test('crosses each turn with every context: as many as the root of the rows, each found again by its own', async () => {
    const { policy, asked, rowsOf } = listener(17);
    const values = await measureInputDependence(policy, batch(4), draw);
    expect(values['collapse/mi_seq_estimate']).toBeCloseTo(Math.log(4), 6);
    expect(values['collapse/retrieval_accuracy']).toBe(1);
    expect(values['collapse/retrieval_chance_level']).toBe(1 / 4);
    expect(values['collapse/conditional_entropy_seq_est']).toBeCloseTo(2.5, 0); // 2 or 3 tokens of 1 nat
    // once with turns, once with first turns
    expect(asked).toEqual(new Array(2).fill([0.7, { reference: false, values: false }]));
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
    expect(asked).toHaveLength(1); // all first turns have one prompt, so only turns are compared
    expect(values['collapse_first_turn_sample/mi_seq_estimate']).toBeUndefined();
    expect(await measureInputDependence(listener(3).policy, batch(4), draw)).toEqual({});
  });

  test('a turn that does not fit behind a context is cut at the end of the row', async () => {
    const { policy, rowsOf } = listener(4, 7);
    await measureInputDependence(policy, batch(1), draw);
    const longest = rowsOf().find(({ roles, tokens }) => roles.indexOf(Role.action) === 5 && tokens[5] === 40)!;
    expect(longest.tokens).toEqual([1, 10, 30, 3, 20, 40, 3]);
  });
});

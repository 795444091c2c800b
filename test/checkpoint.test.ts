import { describe, expect, it } from 'vitest';
import { checkpointOf, firstNonFinite, readCheckpoint, withKnobs, type Checkpoint } from '../src/runs/checkpoint.ts';
import { parseConfig } from '../src/config/config.ts';
import type { Attempt } from '../src/domain/preferences.ts';
import { openFallback } from '../src/worker/fallbackCheckpoint.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { bareHost } from './bareHost.ts';

const TINY = {
  ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7 },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, backend: 'cpu' },
};
const open = (knobs: Record<string, unknown>, from: Checkpoint | null = null) =>
  openSession(parseConfig({ ...TINY, ...knobs }), bareHost, () => undefined, { resumedFrom: from });

/** Pulls to the end of an update and returns what was said on the way. */
async function to(session: Session, update: number): Promise<RunEvent[]> {
  const seen: RunEvent[] = [];
  for (;;) {
    const { value } = (await session.events.next()) as { value: RunEvent };
    seen.push(value);
    if (value.type === 'metrics' && value.update === update) return seen;
  }
}
const told = (seen: readonly RunEvent[]) =>
  seen.filter(({ type }) => type === 'metrics' || type === 'health').map((event) => JSON.stringify(event));

const KINDS: readonly Record<string, unknown>[] = [
  { estimator: 'grpo' },
  { estimator: 'gae', critic: 'separate', criticWarmup: 2 },
  { estimator: 'gae', critic: 'separate', staleness: 2, correction: 'truncated' },
  { estimator: 'gae', critic: 'shared', klCoef: 0.1, klRewardCoef: 0.1, klTarget: 0.001 },
];

describe('a checkpoint', () => {
  it.each(KINDS)('%j: a run that is saved, cloned and opened elsewhere goes on bit for bit', async (knobs) => {
    const straight = await open(knobs);
    await to(straight, 3);
    straight.configure({ learningRate: 0.01 });
    await to(straight, 4);
    const kept = structuredClone(await straight.checkpoint());
    const rest = [...(await to(straight, 5)), ...(await to(straight, 6))];
    expect(await straight.parametersHash()).not.toBe('');

    const resumed = await open(knobs, readCheckpoint(kept));
    expect(resumed.config().learningRate).toBe(0.01);
    const again = [...(await to(resumed, 5)), ...(await to(resumed, 6))];
    expect(told(again)).toEqual(told(rest));
    expect(await resumed.parametersHash()).toBe(await straight.parametersHash());
  });

  it('restores a run under way: the same updates come again', async () => {
    const session = await open({});
    await to(session, 2);
    const kept = await session.checkpoint();
    const hash = await session.parametersHash();
    const first = told(await to(session, 4));
    session.restore(kept);
    expect(await session.parametersHash()).toBe(hash);
    expect(told(await to(session, 4))).toEqual(first);
  });

  it('of another version, other words, other sizes or with a number that is not finite is refused, and says which', async () => {
    const session = await open({});
    await to(session, 1);
    const kept = await session.checkpoint();
    const changed = (change: (networks: Checkpoint['networks']) => Checkpoint['networks']) => ({
      ...kept,
      networks: change(kept.networks),
    });
    const withNorm = (tensor: Float32Array) =>
      changed(({ policy, critic }) => ({
        policy: { ...policy, weights: new Map([...policy.weights, ['model.norm.weight', tensor]]) },
        critic,
      }));
    expect(() => readCheckpoint({ ...kept, version: 2 })).toThrow(/version 2; this page reads version 3/);
    expect(() => readCheckpoint(null)).toThrow(/found null, expected an object/);
    expect(() => readCheckpoint(withNorm(new Float32Array(16).fill(NaN)))).toThrow(
      /weight model\.norm\.weight .* not finite/,
    );
    expect(() => readCheckpoint({ ...kept, begun: { ...kept.begun, learningRate: 7 } })).toThrow(
      /learningRate: 7 isn’t/,
    );
    expect(() => readCheckpoint({ ...kept, progress: { ...kept.progress, update: -1 } })).toThrow(
      /has -1 in place of a count/,
    );
    const short = readCheckpoint(checkpointOf(withNorm(new Float32Array(15))));
    const flipped = structuredClone(kept);
    const bits = new Uint32Array(
      flipped.networks.policy.weights.get('model.norm.weight')?.buffer ?? new ArrayBuffer(0),
    );
    bits[3]! ^= 1; // the least that can be damaged: a weight in its last digit
    expect(() => readCheckpoint(flipped)).toThrow(/damaged after it was saved: its checksum is [0-9a-f]{16}/);
    const { monitor } = kept.progress;
    const stray = { ...kept, progress: { ...kept.progress, monitor: { ...monitor, state: 'fine' } } };
    expect(() => readCheckpoint(stray)).toThrow(/monitor's state is fine/);
    expect(readCheckpoint(withKnobs(kept, { ...kept.config, seed: 8 })).config.seed).toBe(8);
    await expect(open({}, short)).rejects.toThrow(/model\.norm\.weight: there are 15 numbers, and the model needs 16/);
    await expect(open({}, { ...kept, vocabulary: ['other'] })).rejects.toThrow(/Its 1 words are not/);
    const critic = changed(({ policy }) => ({ policy, critic: policy }));
    await expect(open({}, critic)).rejects.toThrow(/with a separate critic/);
  });
});

/** A run whose reward comes from a reward model, with pairs of every kind: fitted, held out, clicked. */
const JUDGED = { rewardModel: 'on', preferenceReward: 1, labellerNoise: 0.1, labellerTaste: 1 };
/** The two first rollouts of the newest batch in `seen`. */
const chosen = (seen: readonly RunEvent[]): readonly [Attempt, Attempt] => {
  const event = seen.findLast(({ type }) => type === 'batch');
  if (event?.type !== 'batch') throw new Error('there is no batch');
  const { tokens, roles, lengths, length } = event.batch;
  const read = (row: number) => {
    const [start, end] = [row * length, row * length + (lengths[row] ?? 0)];
    return { tokens: tokens.slice(start, end), roles: roles.slice(start, end) };
  };
  return [read(0), read(1)];
};
const rewardModelOf = async (session: Session) => (await session.checkpoint()).rewardModel!;

describe('a checkpoint of a run with a reward model', () => {
  it('goes on bit for bit: the policy, the reward model’s weights and moments, its pairs and a person’s clicks', async () => {
    const straight = await open(JUDGED);
    const seen = await to(straight, 3);
    straight.prefer(...chosen(seen));
    await to(straight, 4);
    const kept = structuredClone(await straight.checkpoint());
    expect(kept.rewardModel?.memory).toMatchObject({ clicks: 1, observed: 4, fits: 4 });
    expect(kept.rewardModel?.memory.fitted.lengths.length).toBeGreaterThan(4);
    const rest = [...(await to(straight, 7))];

    const resumed = await open(JUDGED, readCheckpoint(kept));
    expect(told(await to(resumed, 7))).toEqual(told(rest));
    expect(await resumed.parametersHash()).toBe(await straight.parametersHash());
    expect(await rewardModelOf(resumed)).toEqual(await rewardModelOf(straight));

    // each part of what it remembers is needed for that
    const empty = { lengths: new Int32Array(), tokens: new Int32Array(), roles: new Uint8Array() };
    for (const missing of [{ fitted: empty }, { persons: empty }, { observed: 0 }, { fits: 0 }]) {
      const { network, memory } = kept.rewardModel!;
      const other = await open(JUDGED, checkpointOf({ ...kept, rewardModel: { network, memory: { ...memory, ...missing } } })); // prettier-ignore
      await to(other, 7);
      expect(await other.parametersHash(), Object.keys(missing).join()).not.toBe(await straight.parametersHash());
      other.dispose();
    }
    const { memory, network } = kept.rewardModel!;
    const forgetful = { ...network, adamM: new Map([...network.adamM].map(([name, m]) => [name, m.map(() => 0)])) };
    const other = await open(JUDGED, checkpointOf({ ...kept, rewardModel: { network: forgetful, memory } }));
    await to(other, 7);
    expect((await rewardModelOf(other)).network.weights).not.toEqual((await rewardModelOf(straight)).network.weights);
  });

  it('restores a run under way, reward model and all: the same updates come again', async () => {
    const session = await open(JUDGED);
    await to(session, 2);
    const kept = await session.checkpoint();
    const before = structuredClone(kept.rewardModel);
    const first = told(await to(session, 4));
    const [hash, judge] = [await session.parametersHash(), await rewardModelOf(session)];
    session.restore(kept);
    expect(await rewardModelOf(session)).toEqual(before);
    expect(told(await to(session, 4))).toEqual(first);
    expect(await session.parametersHash()).toBe(hash);
    expect(await rewardModelOf(session)).toEqual(judge);
  });

  it('is refused by name where its reward model is damaged, is another’s or is not there', async () => {
    const session = await open(JUDGED);
    await to(session, 2);
    const kept = await session.checkpoint();
    const { network, memory } = kept.rewardModel!;
    const withWeights = (tensor: Float32Array) => ({
      ...kept,
      rewardModel: { memory, network: { ...network, weights: new Map([...network.weights, ['model.norm.weight', tensor]]) } }, // prettier-ignore
    });
    const nan = withWeights(new Float32Array(16).fill(NaN));
    expect(firstNonFinite(nan)).toBe('reward model weight model.norm.weight');
    expect(() => readCheckpoint(nan)).toThrow(/^reward model weight model\.norm\.weight holds a number that is not/);
    const odd = { ...memory.heldOut, lengths: Int32Array.of(3) };
    const torn = { ...memory.fitted, tokens: memory.fitted.tokens.slice(1) };
    for (const [part, words] of [
      [{ heldOut: odd }, /The pairs its reward model holds out can’t be read as pairs of rollouts/],
      [{ fitted: torn }, /The pairs its reward model fits can’t be read as pairs of rollouts/],
      [{ persons: null }, /the pairs its reward model was taught by a person: found null/],
      [{ fits: -1 }, /It has -1 in place of a count/],
    ] as const) {
      expect(() => readCheckpoint({ ...kept, rewardModel: { network, memory: { ...memory, ...part } } })).toThrow(
        words,
      );
    }
    const flipped = structuredClone(kept);
    flipped.rewardModel!.memory.fitted.tokens[0]! ^= 1;
    expect(() => readCheckpoint(flipped)).toThrow(/damaged after it was saved/);
    await expect(open(JUDGED, withWeights(new Float32Array(15)))).rejects.toThrow(
      /Its reward model is not this run's: weights, model\.norm\.weight: there are 15 numbers, and the model needs 16/,
    );
    const strange = { ...memory, fitted: { ...memory.fitted, tokens: memory.fitted.tokens.map(() => 9999) } };
    await expect(open(JUDGED, { ...kept, rewardModel: { network, memory: strange } })).rejects.toThrow(/token 9999/);
    await expect(open(JUDGED, { ...kept, rewardModel: null })).rejects.toThrow(/need a reward model, but it has/);
  });

  it('takes up a person’s click that comes after it: the run goes on as if it had been in there', async () => {
    const straight = await open(JUDGED);
    const seen = await to(straight, 3);
    const handed: Checkpoint[] = [];
    const fallback = openFallback(
      (event) => event.type === 'checkpoint' && handed.push(event.checkpoint),
      () => 0,
    );
    fallback.replaceWith(await straight.checkpoint());
    fallback.postNow();
    straight.prefer(...chosen(seen));
    fallback.addChoice(...chosen(seen));
    expect(handed.map(({ rewardModel }) => rewardModel?.memory.clicks)).toEqual([0, 1]);
    await to(straight, 5);
    const resumed = await open(JUDGED, readCheckpoint(structuredClone(handed[1])));
    await to(resumed, 5);
    expect(await rewardModelOf(resumed)).toEqual(await rewardModelOf(straight));
    expect(await resumed.parametersHash()).toBe(await straight.parametersHash());
  });
});

describe('a fallback checkpoint', () => {
  it('keeps the last finite state, hands it out after each update unless that takes more than a twentieth of the time, and before it is let go; never one that is not finite', async () => {
    const session = await open({});
    let [now, cost] = [0, 99]; // of handing one out: 1,980 ms is a twentieth, so each update of 2 s gets its turn
    const handed: number[] = [];
    const fallback = openFallback(
      (event) => {
        if (event.type !== 'checkpoint') return;
        handed.push(event.checkpoint.progress.update);
        now += cost;
      },
      () => now,
    );
    for (let update = 1; update <= 4; update++) {
      await to(session, update);
      now += 2000;
      expect(fallback.replaceWith(await session.checkpoint())).toBe('');
      fallback.postIfCheap();
    }
    expect(handed).toEqual([1, 2, 3, 4]);
    cost = 150;
    for (let update = 5; update <= 9; update++) {
      await to(session, update);
      now += 2000;
      fallback.replaceWith(await session.checkpoint());
      fallback.postIfCheap();
    }
    expect(handed).toEqual([1, 2, 3, 4, 5, 7, 9]); // 3 s after 150 ms
    cost = 9000;
    fallback.postNow();
    expect(handed.length).toBe(7); // it was handed out
    const last = await session.checkpoint();
    fallback.replaceWith({ ...last, progress: { ...last.progress, update: 10 } });
    now += 5000;
    fallback.postIfCheap(); // however long it takes, five seconds are the most
    expect(handed.at(-1)).toBe(10);
    const { networks, ...rest } = await session.checkpoint();
    networks.policy.adamV.get('model.norm.weight')?.fill(Infinity, 3, 4);
    expect(firstNonFinite({ networks, rewardModel: null })).toBe('moment model.norm.weight');
    expect(fallback.replaceWith(checkpointOf({ ...rest, networks }))).toBe('moment model.norm.weight');
    expect(fallback.last()?.networks).not.toBe(networks);
    fallback.postNow();
    expect(handed.length).toBe(8);
  });

  it('hands out what is too large to be saved for the memory of the page only, and says how large', async () => {
    const session = await open({});
    await to(session, 1);
    const checkpoint = await session.checkpoint();
    const said: RunEvent[] = [];
    const fallback = openFallback(
      (event) => said.push(event),
      () => 0,
    );
    const adamM = new Map([['big', new Float32Array(13 * 2 ** 20)]]);
    const policy = { ...checkpoint.networks.policy, adamM };
    fallback.replaceWith({ ...checkpoint, networks: { policy, critic: null } });
    fallback.postNow();
    expect(said).toMatchObject([
      {
        type: 'checkpoint',
        checkpoint: { progress: { update: 1 } },
        refused: 'not saved: weights and moments take 52 MiB, more than 48 MiB',
      },
    ]);
  });
});

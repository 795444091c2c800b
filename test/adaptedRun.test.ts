import { readPeft } from '../src/checkpoints/peft.ts';
import { adapterConfig } from '../src/model/adapterKnobs.ts';
import { describe, expect, it } from 'vitest';
import { checkpointFiles } from '../src/checkpoints/write.ts';
import { readCheckpointFiles } from '../src/checkpoints/read.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import type { Checkpoint } from '../src/runs/checkpoint.ts';
import { packedRun } from '../src/runs/packed.ts';
import { runWithDefaults } from '../src/runs/run.ts';
import { RunLog } from '../src/runs/runLog.ts';
import { progressText } from '../src/runs/progressText.ts';
import { Role } from '../src/domain/tokens.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { text } from './formats/gguf.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';
import { bareHost } from './bareHost.ts';

const config = parseConfig({
  ...PRESETS['smollm2-hunt'].set,
  estimator: 'reinforce', // rollouts of random weights are paid alike, from which groups would learn nothing
  ...{
    prompts: 1,
    groupSize: 2,
    maxTurns: 1,
    adapterRank: 2,
    adapterAlpha: 4,
    imitationSteps: 1,
    evalTasks: 1,
    updates: 2,
    ...{ staleness: 1, correction: 'truncated' }, // the adapters of before the first update draw the second batch
  },
});
const base = (name: string, file = tinyGguf()) => openBase(name, [{ path: name, source: bytesInMemory(name, file) }]);
const open = async (from: Checkpoint | null = null, onEvent: (event: RunEvent) => void = () => undefined) =>
  openSession(config, bareHost, onEvent, { resumedFrom: from, openedBase: await base('tiny.gguf') });

/** Types of the events on the way. */
async function toUpdate(session: Session, last: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let update = -1; update < last;) {
    const event = (await session.events.next()).value as RunEvent;
    seen.push(event.type);
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'metrics') ({ update } = event);
  }
  return seen;
}

/** Goes on to after a step of imitation; the loss of that. */
async function toStep(session: Session, last: number): Promise<number> {
  for (;;) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type === 'imitated' && event.done === last) return event.loss;
    if (event.type === 'metrics') throw new Error(`no step ${last}`);
  }
}

describe('a run beside a checkpoint', () => {
  it('learns adapters alone, and goes on from its folder to the weights of one that was not interrupted, its demonstrations not imitated again', async () => {
    const whole = await open();
    await toUpdate(whole, 1);
    const checkpoint = await whole.checkpoint();
    const names = [...checkpoint.networks.policy.weights.keys()];
    expect(names).toHaveLength(14); // A and B of seven layers
    expect(names.every((name) => /\.lora_[AB]\.weight$/.test(name))).toBe(true);
    const bare = runWithDefaults({ id: 0, name: 'tiny', started: '2026-11-23T00:00:00Z', begun: config });
    const files = checkpointFiles(packedRun({ ...bare, checkpoint }));
    const peft = readPeft(whole.policy.model, files);
    expect(peft.weights).toEqual(checkpoint.networks.policy.weights);
    expect(peft.adapters).toEqual(adapterConfig(config));
    const read = readCheckpointFiles(files);
    if (read.kind !== 'ours') throw new Error('want a run of this project');
    expect(read.run.checkpoint).toEqual(checkpoint);
    const again = await open(read.run.checkpoint);
    const seen = await Promise.all([toUpdate(whole, 2), toUpdate(again, 2)]);
    expect(seen.map((types) => types.includes('imitated'))).toEqual([false, false]);
    expect(await again.parametersHash()).toBe(await whole.parametersHash());
    expect(await again.parametersHash()).not.toBe(await (await open()).parametersHash());
    // what it said before training it still says, and that is not what it was by imitation
    const sampling = { temperature: 1, topK: 0, topP: 1, greedy: true };
    const talk = {
      kind: 'talk',
      chosenTask: { seed: 3 },
      environmentSeed: 1,
      agentPrefix: [],
      sampling,
      drawIndex: 1,
      voice: 'begun',
    } as const;
    const [one, other] = [await whole.answer(talk), await again.answer(talk)];
    if (one.kind !== 'talk' || other.kind !== 'talk') throw new Error(`got ${one.kind} and ${other.kind}`);
    expect(other.batch.logprobs).toEqual(one.batch.logprobs);
    const imitated = await whole.answer({ ...talk, voice: 'now' });
    expect(imitated).not.toMatchObject({ said: { logprobs: one.batch.logprobs } });
  });

  it('measures what it can after imitation once: kept before its first update and gone on with, it begins with that update, and its curves rise', async () => {
    const whole = await open();
    expect(await toUpdate(whole, 0)).toContain('imitated');
    const kept = await whole.checkpoint();
    const bare = runWithDefaults({ id: 0, name: 'tiny', started: '2026-11-25T00:00:00Z', begun: config });
    const log = new RunLog(bare);
    log.add({ type: 'metrics', update: 0, values: { 'eval/success': 0.5 } });
    const read = readCheckpointFiles(checkpointFiles(packedRun({ ...log.run, checkpoint: kept })));
    if (read.kind !== 'ours') throw new Error('want a run of this project');
    const again = await open(read.run.checkpoint);
    const first = (await again.events.next()).value as RunEvent;
    expect(first).toMatchObject({ type: 'phase', phase: 'sampling', update: 1 });
    await Promise.all([toUpdate(whole, 1), toUpdate(again, 1)]);
    expect(await again.parametersHash()).toBe(await whole.parametersHash());
    expect(kept.progress.evaluated).toBe(true);
    const longer = new RunLog(log.run);
    for (const update of [0, 1]) longer.add({ type: 'metrics', update, values: { 'eval/success': 0.5 } });
    expect([...longer.series.get('eval/success')!.points.x]).toEqual([0, 1]);
  });

  it('imitates in steps of its training, and goes on from its folder in the middle of them to the bits of one that was not interrupted', async () => {
    const steps = { ...config, imitationSteps: 3 };
    const opened = async (from: Checkpoint | null) =>
      openSession(steps, bareHost, () => undefined, { resumedFrom: from, openedBase: await base('tiny.gguf') });
    const whole = await opened(null);
    expect((await whole.checkpoint()).networks.policy.steps).toBe(0); // it opens without
    const shown = async () => {
      const answer = await whole.answer({ kind: 'demonstrations' });
      if (answer.kind !== 'demonstrations') throw new Error(`got ${answer.kind}`);
      return answer.shown;
    };
    const step = await shown();
    expect(step).toMatchObject({ step: 1, total: 3 });
    expect(step!.episodes).toHaveLength(2); // of the batch's rows, fewer than a step of imitation takes
    for (const [prompt, ...said] of step!.episodes) {
      expect(prompt).toMatchObject({
        role: Role.prompt,
        turn: 0,
        text: expect.stringContaining('tool_call') as string,
      });
      expect(said.some(({ role, text }) => role === Role.action && text.length > 0)).toBe(true);
    }
    const first = await toStep(whole, 1);
    const second = await shown();
    expect(second).toMatchObject({ step: 2 });
    expect(second!.episodes).not.toEqual(step!.episodes);
    const checkpoint = await whole.checkpoint();
    expect(checkpoint.progress.imitated).toBe(1);
    expect(checkpoint.networks.policy.steps).toBe(1); // with its moments, which the last step alone forgets
    expect(checkpoint).not.toHaveProperty('start'); // the reference is yet to be frozen
    expect(progressText(checkpoint)).toBe('imitation step 1 of 3');
    const bare = runWithDefaults({ id: 0, name: 'tiny', started: '2026-11-23T00:00:00Z', begun: steps });
    const read = readCheckpointFiles(checkpointFiles(packedRun({ ...bare, checkpoint })));
    if (read.kind !== 'ours') throw new Error('want a run of this project');
    expect(read.run.checkpoint).toEqual(checkpoint);
    const again = await opened(read.run.checkpoint);
    const losses = [await toStep(whole, 3), await toStep(again, 3)];
    expect(await shown()).toBeNull();
    expect(losses[1]).toBe(losses[0]);
    for (const loss of [first, losses[0]]) expect(Math.abs(loss! - Math.log(263))).toBeLessThan(1); // of weights at random and 263 tokens
    const [ended, same] = [await whole.checkpoint(), await again.checkpoint()];
    expect(same).toEqual(ended);
    expect(ended.start).toEqual(ended.networks.policy.weights); // the reference from here on
    expect(ended.networks.policy.steps).toBe(0);
    await Promise.all([toUpdate(whole, 1), toUpdate(again, 1)]);
    expect(await again.parametersHash()).toBe(await whole.parametersHash());
    // back to the middle of it, as after a number that was not finite
    whole.restore(checkpoint);
    expect(await toStep(whole, 3)).toBe(losses[0]);
    await toUpdate(whole, 1);
    expect(await whole.parametersHash()).toBe(await again.parametersHash());
  });

  it('asks for the checkpoint it began with and refuses another by name; what the file is called does not matter', async () => {
    const session = await open();
    const saved = await session.checkpoint();
    const from = (other: Awaited<ReturnType<typeof base>> | null) =>
      openSession(config, bareHost, () => undefined, { resumedFrom: saved, openedBase: other });
    await expect(from(null)).rejects.toThrow(/beside tiny\.gguf/);
    const other = await base('other.gguf', tinyGguf({ 'general.name': text('Other') }));
    await expect(from(other)).rejects.toThrow(/beside tiny\.gguf .*other\.gguf .* is another model/);
    (await from(await base('renamed.gguf'))).dispose();
    await expect(openSession(config, bareHost, () => undefined)).rejects.toThrow(/beside a language model/);
    session.dispose();
  });

  it('tells how far the stages have come', async () => {
    const told: RunEvent[] = [];
    const session = await open(null, (event) => told.push(event));
    await toUpdate(session, 1);
    for (const phase of ['imitating', 'sampling', 'scoring', 'updating']) {
      const last = told.findLast((event) => event.type === 'phase' && event.phase === phase);
      expect(last).toMatchObject({ phase, total: expect.any(Number) as number });
    }
    session.dispose();
  });
});

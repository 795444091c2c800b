import { readPeft } from '../src/checkpoints/adapter/peft.ts';
import { adapterConfig } from '../src/model/adapterKnobs.ts';
import { describe, expect, it } from 'vitest';
import { checkpointFiles } from '../src/checkpoints/write.ts';
import { readCheckpointFiles } from '../src/checkpoints/read.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import type { Checkpoint } from '../src/runs/checkpoint.ts';
import { packedRun } from '../src/runs/packed.ts';
import { bareRun } from '../src/runs/run.ts';
import type { Host } from '../src/session/host.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { openBase } from '../src/speaking/openBase.ts';
import type { RunEvent } from '../src/wire/events.ts';
import { text } from './formats/gguf.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';

const host: Host = {
  gpu: undefined,
  shippedFile: () => Promise.resolve(null),
  now: () => 0,
  breathe: () => Promise.resolve(),
};
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
  },
});
const base = (name: string, file = tinyGguf()) => openBase(name, [{ path: name, source: bytesInMemory(name, file) }]);
const open = async (from: Checkpoint | null = null, onEvent: (event: RunEvent) => void = () => undefined) =>
  openSession(config, host, onEvent, null, from, await base('tiny.gguf'));

async function toUpdate(session: Session, last: number): Promise<void> {
  for (let update = -1; update < last;) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'metrics') ({ update } = event);
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
    const bare = bareRun({ id: 0, name: 'tiny', started: '2026-11-23T00:00:00Z', begun: config });
    const files = checkpointFiles(packedRun({ ...bare, checkpoint }));
    const peft = readPeft(whole.policy.model, files);
    expect(peft.weights).toEqual(checkpoint.networks.policy.weights);
    expect(peft.adapters).toEqual(adapterConfig(config));
    const read = readCheckpointFiles(files);
    if (read.kind !== 'ours') throw new Error('want a run of this project');
    expect(read.run.checkpoint).toEqual(checkpoint);
    const phases: string[] = [];
    const again = await open(read.run.checkpoint, (event) => event.type === 'phase' && phases.push(event.phase));
    expect(phases).not.toContain('warm-start');
    await Promise.all([toUpdate(whole, 2), toUpdate(again, 2)]);
    expect(await again.parametersHash()).toBe(await whole.parametersHash());
    expect(await again.parametersHash()).not.toBe(await (await open()).parametersHash());
  });

  it('asks for the checkpoint it began with and refuses another by name; what the file is called does not matter', async () => {
    const session = await open();
    const saved = await session.checkpoint();
    const from = (other: Awaited<ReturnType<typeof base>> | null) =>
      openSession(config, host, () => undefined, null, saved, other);
    await expect(from(null)).rejects.toThrow(/got none; want tiny\.gguf/);
    const other = await base('other.gguf', tinyGguf({ 'general.name': text('Other') }));
    await expect(from(other)).rejects.toThrow(/got other\.gguf .*; want tiny\.gguf/);
    (await from(await base('renamed.gguf'))).dispose();
    await expect(openSession(config, host, () => undefined)).rejects.toThrow(/got none; want one that speaks text/);
    session.dispose();
  });

  it('tells how far the stages have come, and says in words what it cannot be asked', async () => {
    const told: RunEvent[] = [];
    const session = await open(null, (event) => told.push(event));
    await toUpdate(session, 1);
    for (const phase of ['warm-start', 'sampling', 'scoring', 'updating']) {
      const last = told.findLast((event) => event.type === 'phase' && event.phase === phase);
      expect(last).toMatchObject({ phase, total: expect.any(Number) as number });
    }
    const question = { kind: 'logprobs', update: 1, row: 0 } as const;
    session.history.noteState(0, (await session.checkpoint()).networks.policy);
    await expect(session.answer(question)).rejects.toThrow(/cannot be asked this yet/);
    session.dispose();
  });
});

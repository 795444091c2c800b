import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { Reset, ToolEnv } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { evaluate } from '../../src/rl/evaluate.ts';
import { playerBaselines } from '../../src/rl/playerBaselines.ts';
import { fakePolicy } from '../rl/fakePolicy.ts';
import { factsFor } from './factFiles.ts';

// those that ask in words of a fixed text, so that equal questions are equal tasks
const ASKING = ['world-facts', 'your-facts', 'document-search'] as const;

function asking(name: (typeof ASKING)[number]) {
  const config = parseConfig({ env: name, evaluation: 'full', evalTasks: 40, updates: 8, oneHopShare: 0.3 });
  return { config, env: createEnv(config, factsFor(name)), settings: envSettings(config) };
}

describe.each(ASKING)('of %s', (name) => {
  const { env, settings } = asking(name);
  const questions = (reset: Reset, seeds: number) =>
    new Set(Array.from({ length: seeds }, (_, seed) => reset(seed, settings).question));
  const shared = (some: ReadonlySet<string>, others: ReadonlySet<string>) => [...some].filter((one) => others.has(one));
  // so many draws that of these some hundred questions hardly one is left out: what is shared would be seen
  const trained = questions(env.reset, 3000);
  const heldOut = questions(env.splits.heldOut!.reset, 400);
  const entities = questions(env.splits.entities!.reset, 400);

  it('no held-out question is trained on, and there are several', () => {
    expect(shared(heldOut, trained)).toEqual([]);
    expect(heldOut.size).toBeGreaterThan(5);
  });

  it('questions about other entities are neither trained on nor held out', () => {
    expect(shared(entities, trained)).toEqual([]);
    expect(shared(entities, heldOut)).toEqual([]);
    expect(entities.size).toBeGreaterThan(5);
  });

  it('naive RAG is asked what is held out, and nothing that is trained on', () => {
    const retrieved = questions(env.naiveRag!, 400);
    expect(shared(retrieved, trained)).toEqual([]);
    expect(shared(retrieved, heldOut).length).toBeGreaterThan(0.8 * retrieved.size);
  });

  it('demonstrations show nothing that is held out', () => {
    const shown = questions(env.demonstration, 3000);
    expect(shared(shown, heldOut)).toEqual([]);
    expect(shared(shown, entities)).toEqual([]);
  });
});

/** An environment that notes which of its tasks are begun. */
function noted(env: ToolEnv) {
  const begun = new Set<string>();
  const noting =
    (split: string, reset: Reset): Reset =>
    (...asked) => {
      begun.add(split);
      return reset(...asked);
    };
  const { heldOut, entities, shifted } = env.splits;
  const splits = {
    heldOut: { ...heldOut!, reset: noting('held-out', heldOut!.reset) },
    entities: { ...entities!, reset: noting('entities', entities!.reset) },
    shifted: { ...shifted, reset: noting('shifted', shifted.reset) },
  };
  return {
    begun,
    env: { ...env, reset: noting('trained', env.reset), naiveRag: noting('retrieved', env.naiveRag!), splits },
  };
}

describe.each(ASKING)('an evaluation on %s', (name) => {
  const yieldToEvents = () => Promise.resolve();

  it.each([
    [3, ['held-out']],
    [8, ['held-out', 'entities', 'shifted']],
    [0, ['held-out', 'retrieved', 'entities', 'shifted']],
  ])('at update %i begins no task to train on, but those %j', async (update, want) => {
    const { config, env } = asking(name);
    const { env: watched, begun } = noted(env);
    const policy = fakePolicy(12, env.maxTokens, env.vocabulary.length);
    await evaluate(policy, watched, config, update, { yieldToEvents });
    expect([...begun]).toEqual(want);
  });

  it('compares with players of the held-out tasks', async () => {
    const { config, env } = asking(name);
    const { env: watched, begun } = noted(env);
    await playerBaselines(watched, config, yieldToEvents);
    expect([...begun]).toEqual(['held-out']);
  });
});

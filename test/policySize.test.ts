import { describe, expect, it } from 'vitest';
import { nodeHost } from '../src/cli/nodeHost.ts';
import { parseConfig, type RunConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { openSession } from '../src/session/session.ts';
import { policySize } from '../src/session/policySize.ts';

const BRIEF = {
  prompts: 2,
  groupSize: 2,
  minibatches: 1,
  evalEvery: 0,
  evalTasks: 16,
  warmStart: 'none',
  backend: 'cpu',
};

describe('what the page says of a model before there is one', () => {
  it.each([
    ['number-hunt', {}],
    ['number-hunt', { width: 16, heads: 2, kvHeads: 1, tieEmbeddings: 'off', attentionBias: 'on', range: 32 }],
    ['number-hunt-ppo', {}],
    ['number-hunt-text', { width: 16, ffn: 16, heads: 2, kvHeads: 2, layers: 1 }],
  ] as const)('is what the run then says of it: %s %o', async (preset, knobs) => {
    const host = await nodeHost(false);
    const config = parseConfig({ ...PRESETS[preset].set, ...BRIEF, ...knobs });
    const told = await policySize({ kind: 'weigh', config, facts: null }, host);
    const events: RunEvent[] = [];
    const session = await openSession(config, host, (event) => events.push(event));
    session.dispose();
    const ready = events.find((event) => event.type === 'ready');
    expect(told).toEqual({
      kind: 'weighed',
      parameters: ready?.parameters,
      vocabulary: ready?.vocabulary.length,
    });
    expect(told.parameters).toBeGreaterThan(1000);
  });

  it('is refused where the knobs contradict each other, and beside a checkpoint, whose card says it', async () => {
    const host = await nodeHost(false);
    const of = (knobs: Partial<RunConfig>) =>
      policySize({ kind: 'weigh', config: { ...parseConfig(BRIEF), ...knobs }, facts: null }, host);
    await expect(of({ heads: 3 })).rejects.toThrow(/heads/);
    await expect(of(PRESETS['smollm2-calculator'].set)).rejects.toThrow(/beside a language model/);
  });
});

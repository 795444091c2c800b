import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseConfig, type RunConfig } from '../src/config.ts';
import { PRESETS } from '../src/presets.ts';
import { SHIPPED_FILES, warmFile } from '../src/rl/warmFiles.ts';
import { type Host, openSession } from '../src/session.ts';

const host: Host = {
  gpu: undefined,
  shippedFile: async (path) => {
    const { buffer, byteOffset, byteLength } = await readFile(new URL(`../public/${path}`, import.meta.url));
    return buffer.slice(byteOffset, byteOffset + byteLength);
  },
  now: () => 0,
  breathe: () => Promise.resolve(),
};

async function base(preset: keyof typeof PRESETS) {
  const config = parseConfig({ ...PRESETS[preset].set, backend: 'cpu', evalTasks: 512, seed: 77 });
  const session = await openSession(config, host, (event) => {
    if (event.type === 'phase') expect(event.phase).toBe('compiling'); // nothing is imitated here
  });
  return session.evaluate();
}

describe('shipped warm-start weights', () => {
  it('fit every preset that does not ask to imitate anew', () => {
    for (const { set } of Object.values(PRESETS)) {
      const config = parseConfig(set);
      if (config.warmStart === 'shipped') expect(SHIPPED_FILES).toContain(warmFile(config));
    }
  });

  it('do not claim to fit a configuration with other words or tensors', () => {
    const other: Partial<RunConfig>[] = [
      { range: 17 },
      { width: 64 },
      { layers: 1 },
      { think: 'on' },
      { attentionBias: 'on' },
      { tieEmbeddings: 'off' },
      { env: 'multi-hop', entities: 11 },
      { env: 'multi-hop', hops: 3 },
      { env: 'multi-hop', distractors: 1 },
    ];
    for (const knobs of other) expect(SHIPPED_FILES).not.toContain(warmFile(parseConfig(knobs)));
    expect(SHIPPED_FILES).toContain(warmFile(parseConfig({ critic: 'separate', maxTurns: 6, distractors: 3 })));
  });

  // 512 tasks: a standard error of .02
  it('find about a quarter of the numbers', { timeout: 30_000 }, async () => {
    const { 'eval/success_sampled': sampled, 'eval/success': greedy } = await base('number-hunt');
    expect(sampled).toBeGreaterThan(0.18);
    expect(sampled).toBeLessThan(0.32);
    expect(greedy).toBeLessThan(0.4);
  });

  it('answer at most a quarter of the questions', { timeout: 30_000 }, async () => {
    const { 'eval/success_sampled': sampled, 'eval/success': greedy } = await base('multi-hop');
    expect(sampled).toBeGreaterThan(0.08);
    expect(greedy).toBeLessThan(0.25);
  });
});

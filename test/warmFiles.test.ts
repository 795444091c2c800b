import { describe, expect, it } from 'vitest';
import { parseConfig, type RunConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { SHIPPED_FILES, warmFile } from '../src/rl/warmStart.ts';
import { openSession } from '../src/session/session.ts';
import { shippingHost } from './shippingHost.ts';

async function base(preset: keyof typeof PRESETS) {
  const config = parseConfig({ ...PRESETS[preset].set, backend: 'cpu', evalTasks: 512, seed: 77 });
  const session = await openSession(config, shippingHost, (event) => {
    if (event.type === 'phase') expect(event.phase).toBe('compiling'); // nothing is imitated here
  });
  return session.evaluate();
}

describe('shipped warm-start weights', () => {
  it('fit every preset that does not ask to imitate anew', () => {
    for (const { set } of Object.values(PRESETS)) {
      const config = parseConfig(set);
      if (config.warmStart === 'shipped' && config.language === 'words')
        expect(SHIPPED_FILES).toContain(warmFile(config));
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

  it('are named by all that words, demonstrations and tensors depend on', () => {
    const names: [Partial<RunConfig>, string][] = [
      [{ range: 32 }, 'number-hunt-32-d32-l2-h4-4-f96'],
      [{ env: 'multi-hop', distractors: 2 }, 'multi-hop-12x3-2-noise2-d32-l2-h4-4-f96'],
      [{ env: 'multi-hop', retriever: 'first' }, 'multi-hop-12x3-2-rag-first-d32-l2-h4-4-f96'],
      [{ env: 'world-facts', names: 'own' }, 'world-facts-12x3-2-own-d32-l2-h4-4-f96'],
      [{ env: 'your-facts', names: 'own' }, 'your-facts-12x3-2-own-d32-l2-h4-4-f96'],
      [{ env: 'your-facts' }, 'world-facts-12x3-2-d32-l2-h4-4-f96'], // slot words fit any facts
      [{ env: 'frozen-lake', size: 5, maxTurns: 9 }, 'frozen-lake-5-slip0.2-turns9-d32-l2-h4-4-f96'],
      [
        { env: 'frozen-lake', slip: 0.5, maxTurns: 9, ends: 'corners', sight: 'name' },
        'frozen-lake-4-slip0.5-turns9-corners-name-d32-l2-h4-4-f96',
      ],
      [{ env: 'sokoban', size: 5, maxTurns: 9 }, 'sokoban-5-turns9-d32-l2-h4-4-f96'],
      [{ env: 'bandit' }, 'bandit-arms-d32-l2-h4-4-f96'],
      [{ env: 'bandit-reversed' }, 'bandit-reversed-arms-d32-l2-h4-4-f96'],
      [{ env: 'calculator', hops: 3 }, 'calculator-3-d32-l2-h4-4-f96'],
      [{ env: 'countdown', hops: 3 }, 'countdown-4-d32-l2-h4-4-f96'],
      [{ env: 'document-search', topPassages: 2, maxTurns: 5 }, 'document-search-top2-turns5-d32-l2-h4-4-f96'],
      [
        { think: 'on', tieEmbeddings: 'off', attentionBias: 'on', heads: 4, kvHeads: 2, width: 64, ffn: 48, layers: 1 },
        'number-hunt-16-d64-l1-h4-2-f48-think-untied-bias',
      ],
    ];
    for (const [knobs, name] of names) expect(warmFile(parseConfig(knobs))).toBe(`${name}.safetensors`);
  });

  // 512 tasks: a standard error of .02
  it('find about a quarter of the numbers', async () => {
    const { 'eval/success_sampled': sampled, 'eval/success': greedy } = await base('number-hunt');
    expect(sampled).toBeGreaterThan(0.18);
    expect(sampled).toBeLessThan(0.32);
    expect(greedy).toBeLessThan(0.4);
  });

  it('answer at most a quarter of the questions', async () => {
    const { 'eval/success_sampled': sampled, 'eval/success': greedy } = await base('multi-hop');
    expect(sampled).toBeGreaterThan(0.08);
    expect(greedy).toBeLessThan(0.25);
  });
});

import { describe, expect, it } from 'vitest';
import { FIELDS, type RunConfig } from '../../src/config/config.ts';
import type { Episode, Reset } from '../../src/envs/env.ts';
import { HELD_OUT_SHARE, sideOf } from '../../src/envs/split.ts';
import { evalTaskSeed, trainTaskSeed } from '../../src/rl/settings.ts';
import { isWeekly } from '../weekly.ts';
import { subject } from './checker.ts';

/** What a task is, read off its view by this test: names and places, but no slots, no order in which numbers are handed out. */
function contentOf(episode: Episode): string {
  const view = episode.view();
  switch (view.kind) {
    case 'number-line':
      return String(view.target);
    case 'grid':
      return JSON.stringify([view.cells, view.start, view.box]);
    case 'sum':
      return view.title === 'Countdown'
        ? JSON.stringify([view.task.split(', ').map(Number).toSorted(), view.wanted])
        : view.task;
    case 'calls':
      return view.title;
    case 'bandit':
      return JSON.stringify([view.arms, view.risky]);
    case 'passages':
      return episode.question;
    case 'graph':
      // a drawn graph is all its edges; of given facts an episode shows a part, and the question is what it is about
      return view.title === 'Multi-hop search' ? JSON.stringify([view.edges, view.gold]) : episode.question;
  }
}

// presets, then as few tasks as knobs can leave
const KNOBS: readonly (readonly [RunConfig['env'], Partial<RunConfig>])[] = [
  ...FIELDS.env.choices.map((env) => [env, {}] as const),
  ['number-hunt', { range: 3, failureRate: 0.4 }],
  ['multi-hop', { entities: 3, relations: 1, hops: 1, oneHopShare: 1, maxTurns: 2 }],
  ['multi-hop', { hops: 2, maxTurns: 3 }],
  ['frozen-lake', { size: 3, ends: 'corners' }],
  ['frozen-lake', { size: 3, maxTurns: 2 }],
  ['sokoban', { size: 3, maxTurns: 1 }],
  ['sokoban', { size: 3, maxTurns: 3 }],
  ['calculator', { hops: 1, maxTurns: 2 }],
  ['countdown', { hops: 1 }],
  ['countdown', { hops: 3 }],
  ['world-facts', { names: 'own', hops: 1 }],
  ['your-facts', { hops: 3, relations: 4 }],
];
const COUNT = isWeekly ? 600 : 200;

describe.each(KNOBS)('%s %o', (name, knobs) => {
  const { env, settings } = subject(name, knobs);
  const drawn = (begin: Reset, seedOf: (i: number) => number) =>
    Array.from({ length: COUNT }, (_, i) => begin(seedOf(i), settings));
  const forTraining = (i: number) => trainTaskSeed(3, Math.floor(i / 16), i % 16);
  const trained = [...drawn(env.reset, forTraining), ...drawn(env.demonstration, forTraining)];
  const { heldOut, entities, shifted } = env.splits;

  it('calls two tasks the same iff they are', () => {
    const keys = new Map<string, string>();
    const contents = new Map<string, string>();
    for (const episode of trained) {
      const content = contentOf(episode);
      expect(keys.get(episode.key) ?? content).toBe(content);
      expect(contents.get(content) ?? episode.key).toBe(episode.key);
      keys.set(episode.key, content);
      contents.set(content, episode.key);
    }
  });

  if (heldOut) {
    it('evaluates and retrieves for no task that it trains on or demonstrates', () => {
      const met = new Set(trained.map(contentOf));
      for (const begin of [heldOut.reset, entities?.reset, shifted.reset, env.naiveRag]) {
        if (!begin) continue;
        const again = drawn(begin, (i) => evalTaskSeed(3, i)).filter((episode) => met.has(contentOf(episode)));
        expect(again.map(contentOf)).toEqual([]);
        // a seed of training leads to no such task either
        expect(drawn(begin, forTraining).filter((episode) => met.has(contentOf(episode)))).toEqual([]);
      }
      expect(env.taskCount).toBeUndefined();
    });

    it('puts one retrieval into the prompt of the tasks it holds out', () => {
      if (!env.naiveRag) return;
      for (let i = 0; i < 40; i++) {
        const seed = evalTaskSeed(3, i);
        expect(env.naiveRag(seed, settings).key).toBe(heldOut.reset(seed, settings).key);
      }
    });
  } else {
    it('has as many tasks as it says, each of them once in so many consecutive seeds', () => {
      const all = new Set(trained.map(contentOf));
      expect(all.size).toBe(env.taskCount);
      for (const first of [0, 5, evalTaskSeed(3, 0)]) {
        const block = Array.from({ length: env.taskCount! }, (_, i) => contentOf(env.reset(first + i, settings)));
        expect(new Set(block)).toEqual(all);
      }
      expect(entities).toBeUndefined();
    });
  }
});

describe('the split by what a task is', () => {
  it('keeps a fifth of all tasks from training', () => {
    for (const names of ['task 7:', '', 'ada boss ']) {
      const held = Array.from({ length: 5000 }, (_, i) => sideOf(`${names}${i}`)).filter((side) => side === 'held-out');
      // standard error .0057
      expect(Math.abs(held.length / 5000 - HELD_OUT_SHARE)).toBeLessThan(0.023);
    }
  });
});

describe('demonstrations', () => {
  it.each(['multi-hop', 'world-facts'] as const)('of %s take one hop or two, and never one more', (name) => {
    const { env, settings } = subject(name);
    const hops = Array.from({ length: 1000 }, (_, seed) => {
      const view = env.demonstration(seed, settings).view();
      return view.kind === 'graph' ? view.gold.length : 0;
    });
    expect(new Set(hops)).toEqual(new Set([1, 2]));
    // a fifth of them, standard error .013
    expect(Math.abs(hops.filter((n) => n === 1).length / 1000 - 0.2)).toBeLessThan(0.05);
  });
});

import { describe, expect, it } from 'vitest';
import type { Episode, Reset } from '../../src/envs/env.ts';
import { createEnv } from '../../src/envs/index.ts';
import { parseFacts } from '../../src/facts/parse.ts';
import type { EnvView } from '../../src/domain/envView.ts';
import { play, subject } from './checker.ts';
import { COUNTRIES, factsFor } from './factFiles.ts';

type GraphView = Extract<EnvView, { kind: 'graph' }>;
const SEEDS = Array.from({ length: 1000 }, (_, i) => 7000 + i);

function graphOf(episode: Episode): GraphView {
  const view = episode.view();
  if (view.kind !== 'graph') throw new Error('want a graph');
  return view;
}
/** A question as people read it: its first entity and its relations; and every entity on the way to its answer. */
function questionOf(episode: Episode) {
  const { entities, relations, gold } = graphOf(episode);
  const name = (e: number) => entities[e] ?? '';
  const start = name(gold[0]?.entity ?? -1);
  return {
    text: [start, ...gold.map(({ relation }) => relations[relation])].join(' > '),
    start,
    path: [start, ...gold.map(({ to }) => name(to))],
    hops: gold.length,
  };
}

describe.each(['world-facts', 'your-facts'] as const)('%s', (name) => {
  const s = subject(name, { oneHopShare: 0.15 });
  const { env, settings } = s;
  const facts = factsFor(name)!;
  const truth = new Map(facts.triples.map(([subject, relation, object]) => [`${subject}|${relation}`, object]));
  const asked = (reset: Reset) => SEEDS.map((seed) => questionOf(reset(seed, settings)));
  const { heldOut, entities, shifted } = env.splits;

  it('asks nothing in evaluation that it trains on or demonstrates, and nothing about the entities set aside', () => {
    const trained = [...asked(env.reset), ...asked(env.demonstration)];
    const questions = new Set(trained.map(({ text }) => text));
    const met = new Set(trained.flatMap(({ path }) => path));
    const [inDomain, aboutOthers, longer] = [heldOut!, entities!, shifted].map(({ reset }) => asked(reset));
    for (const split of [inDomain!, aboutOthers!, longer!]) {
      expect(split.filter(({ text }) => questions.has(text))).toEqual([]);
    }
    expect(aboutOthers!.filter(({ start }) => met.has(start))).toEqual([]);
    const aside = new Set(aboutOthers!.map(({ start }) => start));
    for (const { path } of [...inDomain!, ...longer!]) for (const entity of path) expect(aside.has(entity)).toBe(false);
    expect(new Set(longer!.map(({ hops }) => hops))).toEqual(new Set([3]));
    expect(new Set(inDomain!.map(({ hops }) => hops))).toEqual(new Set([1, 2]));
    expect(aside.size).toBeGreaterThan(5);
  });

  it('says only what the facts say, about questions that meet no entity twice', () => {
    for (const reset of [env.reset, heldOut!.reset, entities!.reset, shifted.reset]) {
      for (const seed of SEEDS.slice(0, 100)) {
        const { entities: names, relations, edges, gold } = graphOf(reset(seed, settings));
        expect(new Set(names).size).toBe(names.length);
        expect(names.length).toBeLessThanOrEqual(12);
        edges.forEach((row, r) =>
          row.forEach((to, e) => {
            if (to !== null) expect(names[to]).toBe(truth.get(`${names[e] ?? ''}|${relations[r] ?? ''}`));
          }),
        );
        expect(new Set([gold[0]!.entity, ...gold.map(({ to }) => to)]).size).toBe(gold.length + 1);
        for (const { entity, relation, to } of gold) expect(edges[relation]?.[entity]).toBe(to);
      }
    }
  });

  it('gives the answer every slot alike, so that a prompt tells nothing of it', () => {
    const counts = new Map<number, number>();
    for (const seed of SEEDS) {
      const episode = env.reset(seed, settings);
      const answer = graphOf(episode).answer;
      const word = [...episode.names].find(([, name]) => name === graphOf(episode).entities[answer])?.[0] ?? -1;
      expect(episode.prompt).not.toContain(word);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    // 83 each, standard deviation 8.7: five of them
    expect(counts.size).toBe(12);
    for (const count of counts.values()) expect(Math.abs(count - 1000 / 12)).toBeLessThan(44);
  });

  it('asks in names and writes in slots', () => {
    const episode = env.reset(7003, settings);
    const { start } = questionOf(episode);
    expect(episode.question).toMatch(/^What is the .* of /);
    expect(episode.question.endsWith(` of ${start}?`)).toBe(true);
    const words = episode.prompt.map((id) => env.vocabulary[id] ?? '');
    expect(words.slice(0, 2)).toEqual(['<bos>', 'question']);
    for (const word of words.slice(2, -1)) expect(word).toMatch(/^[er]\d+$/);
    expect(episode.names.get(episode.prompt.at(-2) ?? -1)).toBe(start);
  });

  it('answers none to what the facts do not say and to slots that stand for nothing, and pays nothing for such an answer', () => {
    const id = (word: string) => env.vocabulary.indexOf(word);
    let missing = 0;
    for (const seed of SEEDS.slice(0, 200)) {
      const episode = env.reset(seed, settings);
      const { edges } = graphOf(episode);
      const wordOf = (kind: string, at: number) =>
        [...episode.names.keys()].filter((word) => env.vocabulary[word]?.startsWith(kind))[at] ?? -1;
      const r = edges.findIndex((row) => row.includes(null));
      const e = edges[r]?.indexOf(null) ?? -1;
      if (r < 0) continue;
      missing++;
      const { observation, valid, parts } = episode.step(
        [id('<call>'), wordOf('e', e), wordOf('r', r), id('</call>')],
        settings,
      );
      expect(observation).toEqual([id('<obs>'), id('none'), id('</obs>')]);
      expect(valid).toBe(true);
      expect(parts.process).toBe(0);
    }
    expect(missing).toBeGreaterThan(100);
  });
});

describe('your-facts', () => {
  const config = subject('your-facts').config;

  it('says what is missing where there are no facts, or none that lead on from each other', () => {
    expect(() => createEnv(config)).toThrow(
      /your-facts asks about facts, and there are none\. Give a CSV file of subject, relation, object: under Task/,
    );
    const { facts } = parseFacts('flat.csv', 'Peru,capital,Lima\nChile,capital,Santiago');
    expect(() => createEnv(config, facts)).toThrow(/hops: 2, but these 2 facts hold no chain of 2/);
  });

  it('goes in circles without ever meeting an entity twice', () => {
    const ring = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const { facts } = parseFacts('ring.csv', ring.map((e, i) => `${e},next,${ring[(i + 1) % 8] ?? ''}`).join('\n'));
    const env = createEnv(config, facts);
    const { settings } = subject('your-facts');
    for (const seed of SEEDS.slice(0, 100)) {
      const { path, hops } = questionOf(env.reset(seed, settings));
      expect(new Set(path).size).toBe(hops + 1);
    }
  });

  it('has a slot for no more than the facts hold: the rest stand for nothing', () => {
    const { facts } = parseFacts('few.csv', 'a,r,b\nb,r,c\nc,r,d\nd,r,e');
    const env = createEnv(config, facts);
    const { settings } = subject('your-facts');
    const unbound = env.vocabulary.findIndex((word) => word.startsWith('e') && /\d/.test(word));
    const episode = env.reset(1, settings);
    expect(graphOf(episode).entities.length).toBeLessThanOrEqual(5);
    const free = env.vocabulary.findIndex((word, i) => /^e\d+$/.test(word) && !episode.names.has(i));
    expect(free).toBeGreaterThanOrEqual(unbound);
    const answer = [env.vocabulary.indexOf('<answer>'), free, env.vocabulary.indexOf('</answer>')];
    const { turns } = play(episode, settings, () => answer);
    expect(turns).toMatchObject([{ valid: true, success: false, stop: 'answered' }]);
    expect(graphOf(episode).given).toBeNull();
  });
});

describe('words of their own', () => {
  const own = subject('world-facts', { names: 'own' });

  it('are the same for an entity in every episode, one each', () => {
    const names = new Map<number, string>();
    for (const seed of SEEDS) {
      for (const [id, name] of own.env.reset(seed, own.settings).names) {
        expect(names.get(id) ?? name).toBe(name);
        names.set(id, name);
      }
    }
    expect(new Set(names.values()).size).toBe(names.size);
    const entities = new Set(COUNTRIES.triples.flatMap(([subject, , object]) => [subject, object]));
    expect(own.env.vocabulary.filter((word) => /^e\d+$/.test(word))).toHaveLength(entities.size);
  });
});

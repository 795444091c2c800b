import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/domain/envView.ts';
import { Graph, labelPlaces } from '../../src/ui/drawings/Graph.tsx';
import { Grid } from '../../src/ui/drawings/Grid.tsx';
import { TextDrawing } from '../../src/ui/drawings/TextDrawing.tsx';
import { Passages } from '../../src/ui/drawings/Passages.tsx';
import { expertPlay, subject } from '../envs/checker.ts';

const viewOf = <K extends EnvView['kind']>(name: Parameters<typeof subject>[0], kind: K, seed: number) => {
  const view = expertPlay(subject(name, { slip: 0 }), seed).episode.view();
  if (view.kind !== kind) throw new Error(`want a ${kind}`);
  return view as Extract<EnvView, { kind: K }>;
};

describe('the graph', () => {
  it('lights what was searched and says it in words, by the names people know', () => {
    const view = viewOf('world-facts', 'graph', 6);
    const html = renderToStaticMarkup(createElement(Graph, { view, turn: 1 }));
    expect(html).toContain(
      `The answer is ${view.entities[view.answer] ?? '?'}, given: ${view.entities[view.answer] ?? '?'}.`,
    );
    for (const { turn, entity, relation, to } of view.searched) {
      const told = `turn ${turn}: ${view.entities[entity] ?? ''} ${view.relations[relation] ?? ''} gives ${view.entities[to ?? -1] ?? ''}`;
      expect(html.replaceAll('&#x27;', "'")).toContain(told);
    }
    expect(html.match(/class="search"/g)).toHaveLength(view.searched.length);
    expect(html.match(/class="gold"/g)).toHaveLength(view.gold.length);
  });

  it('cuts a long name to its room and keeps the whole of it as a title', () => {
    const long = 'Saint Vincent and the Grenadines, and some more';
    const view = { ...viewOf('world-facts', 'graph', 6) };
    const html = renderToStaticMarkup(
      createElement(Graph, {
        view: { ...view, entities: view.entities.map((name, i) => (i === 3 ? long : name)) },
        turn: 1,
      }),
    );
    expect(html).toContain(`<title>${long}</title>`);
    expect(html).toMatch(/>Saint Vincen[a-z]*…<\/text>/);
  });
});

describe('the board', () => {
  it('says in words where things are and every move', () => {
    const view = viewOf('sokoban', 'grid', 12);
    const html = renderToStaticMarkup(createElement(Grid, { view, turn: 0, group: [view] }));
    expect(html).toMatch(
      /aria-label="Sokoban, 4 by 4\. Start [a-d][1-4], goal [a-d][1-4], holes none, walls [^"]*box [a-d][1-4]/,
    );
    for (const { turn, direction } of view.moves) expect(html).toContain(`turn ${turn}: ${direction} to `);
  });

  it('shades each cell by how often the group stood on it, most where it did most', () => {
    const view = viewOf('frozen-lake', 'grid', 3);
    const html = renderToStaticMarkup(createElement(Grid, { view, turn: 1, group: [view, view] }));
    const shades = Array.from(html.matchAll(/class="heat"[^>]*opacity="([\d.]+)"/g), (match) => Number(match[1]));
    expect(shades).toHaveLength(16);
    expect(shades.filter((shade) => shade === 0.6)).toHaveLength(new Set(view.moves.map(({ at }) => at)).size);
    expect(shades.filter((shade) => shade === 0)).toHaveLength(16 - new Set(view.moves.map(({ at }) => at)).size);
  });
});

describe('the ledger', () => {
  it('lists each step of a sum and marks the turn in view', () => {
    const view = viewOf('calculator', 'sum', 4);
    const html = renderToStaticMarkup(createElement(TextDrawing, { view, turn: 2 }));
    for (const { text, result } of view.steps) {
      expect(html).toContain(`<span>${text}</span>`);
      expect(html).toContain(`= ${result}</strong>`);
    }
    expect(html.match(/data-now="true"/g)).toHaveLength(1);
  });

  it('says which arm was chosen and what it paid', () => {
    const view = viewOf('bandit', 'bandit', 4);
    const html = renderToStaticMarkup(createElement(TextDrawing, { view, turn: 1 }));
    expect(html).toContain(`<strong>${view.risky}</strong>`);
    expect(html).toMatch(/chosen, paid [01]/);
  });
});

describe('the passages', () => {
  const found = viewOf('document-search', 'passages', 4);
  const [search] = found.searches;
  const [passage] = search?.passages ?? [];
  if (!search || !passage) throw new Error('want a search that brought a passage');
  const render = (view: typeof found, turn: number) => renderToStaticMarkup(createElement(Passages, { view, turn }));

  it('marks the words of the query and the answer, and says which passage is needed', () => {
    const html = render(found, 1);
    const marked = Array.from(html.matchAll(/<mark data-matched="true"[^>]*>([^<]*)</g), ([, word]) =>
      word?.toLowerCase(),
    );
    expect(search.query.toLowerCase().split(' ')).toEqual(expect.arrayContaining(marked));
    expect(marked.length).toBeGreaterThan(0);
    const right = Array.from(html.matchAll(/<mark[^>]*data-answer="true">([^<]*)</g), ([, word]) => word);
    expect(right.join('')).toBe(found.answer);
    expect(html).toContain('<span class="chip">needed</span>');
    expect(html).toContain('exact match');
  });

  it('follows the turn: what comes later is faint', () => {
    expect(render(found, 1)).toMatch(
      /<li data-now="true" data-later="false">.*class="row given" data-now="false" data-later="true"/s,
    );
    expect(render(found, 9)).not.toContain('data-later="true"');
  });

  it('marks where a query and the answer overlap once each, and strikes out what was cut', () => {
    const text = 'on the North Sea coast';
    const cut = { ...passage, text, read: 16, marks: [[7, 12]] as const, answer: [7, 16] as const };
    const html = render({ ...found, searches: [{ ...search, passages: [cut] }] }, 1);
    expect(html).toContain(
      'on the <mark data-matched="true" data-answer="true">North</mark><mark data-matched="false" data-answer="true"> Sea</mark>',
    );
    expect(html).toContain('<del aria-label="cut, not read"> coast</del>');
  });

  it('shows names as text, tells a failed tool from no match, and says how far off the answer was', () => {
    const none = { ...search, passages: [] };
    expect(render({ ...found, searches: [{ ...none, failed: true }] }, 1)).toContain('The tool failed.');
    expect(render({ ...found, searches: [{ ...none, query: '<b>' }] }, 1)).toMatch(
      /&lt;b&gt;.*No passage contains these words/s,
    );
    const half = { ...found, given: 'Sea', answer: 'North Sea', scores: { exact: 0, contains: 0, f1: 2 / 3 } };
    expect(render(half, 1)).toMatch(/F1 0.667, expected/);
  });
});

describe('the labels of a graph', () => {
  const bend = (from: number, to: number) => ({
    from: { x: from, y: 0 },
    middle: { x: (from + to) / 2, y: 100 },
    to: { x: to, y: 0 },
    labelWidth: 60,
  });

  it('stand at the half of their searches where that is free', () => {
    expect(labelPlaces([bend(0, 100), bend(200, 300)], [], 10)).toEqual([
      { x: 50, y: 50 },
      { x: 250, y: 50 },
    ]);
  });

  it('do not cover one another, however often the same is looked up', () => {
    const places = labelPlaces([bend(0, 300), bend(0, 300), bend(300, 0)], [], 10);
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) expect(Math.abs(a.x - b.x) >= 60 || Math.abs(a.y - b.y) >= 18).toBe(true);
    }
  });

  it('leave a node in sight', () => {
    const [place] = labelPlaces([bend(0, 300)], [{ x: 150, y: 50 }], 10);
    expect(place?.x).not.toBe(150);
  });
});

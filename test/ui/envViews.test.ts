import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/protocol.ts';
import { Grid } from '../../src/ui/panels/Grid.tsx';
import { Ledger } from '../../src/ui/panels/Ledger.tsx';
import { expertPlay, subject } from '../envs/checker.ts';

const viewOf = <K extends EnvView['kind']>(name: Parameters<typeof subject>[0], kind: K, seed: number) => {
  const view = expertPlay(subject(name, { slip: 0 }), seed).episode.view();
  if (view.kind !== kind) throw new Error(`want a ${kind}`);
  return view as Extract<EnvView, { kind: K }>;
};

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
    const html = renderToStaticMarkup(createElement(Ledger, { view, turn: 2 }));
    for (const { text, result } of view.steps) {
      expect(html).toContain(`<span>${text}</span>`);
      expect(html).toContain(`= ${result}</strong>`);
    }
    expect(html.match(/data-now="true"/g)).toHaveLength(1);
  });

  it('says which arm was chosen and what it paid', () => {
    const view = viewOf('bandit', 'bandit', 4);
    const html = renderToStaticMarkup(createElement(Ledger, { view, turn: 1 }));
    expect(html).toContain(`<strong>${view.risky}</strong>`);
    expect(html).toMatch(/chosen, paid [01]/);
  });
});

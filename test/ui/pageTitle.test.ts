import { expect, test } from 'vitest';
import { PLACES, SCREENS, type Route } from '../../src/page/address/screens.ts';
import { titleOf } from '../../src/page/view/pageTitle.ts';

const ROUTES = Object.keys(SCREENS) as Route[];

test('every screen has a title of its own, with its name and that of its place', () => {
  expect(new Set(ROUTES.map((route) => titleOf(route))).size).toBe(ROUTES.length);
  for (const route of ROUTES) {
    const { place, label } = SCREENS[route];
    const title = titleOf(route);
    if (route !== 'stage') expect(title).toContain(PLACES[place].label);
    expect(title).toContain(label);
  }
});

test('how far a run is stands first, what a screen shows behind its name', () => {
  expect(titleOf('learn', { progress: '▶ 3/40', shown: 'The clip' })).toMatch(
    /^▶ 3\/40 · Learn · Chapters · The clip · /,
  );
});

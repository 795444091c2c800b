import { createElement } from 'react';
import { prerender } from 'react-dom/static';
import { expect, test, vi } from 'vitest';
import { Card } from '../../src/ui/share/Card.tsx';
import { makeClip, spread } from '../../src/ui/share/ShareClip.tsx';
import { rolloutFrames, trainingFrames } from '../../src/page/share/clipFrames.ts';
import { duelFrames, duelHeadline } from '../../src/page/share/duel.ts';
import { frameSnippet } from '../../src/ui/share/ShareDialog.tsx';
import { cardWords, momentOf, truncatedMoment } from '../../src/page/share/moment.ts';
import { readableAddress } from '../../src/page/share/sharedAddress.ts';
import { brokenLines } from '../../src/ui/share/CardTokens.tsx';
import { isOver, playsOf, sidesOf } from '../../src/page/stage/play.ts';
import { readStagePlace, stageSubpath } from '../../src/page/stage/stageStore.ts';
import { embeddedPanel } from '../../src/page/address/screens.ts';
import { siteAddress } from '../../tools/card-plugin.ts';
import { shippedRecording } from '../shippedRecording.ts';
import { example, exampleVocabulary } from './example.ts';

const success = { x: [1, 2, 3, 4], y: [0.16, 0.3, 0.5, 0.84] };
const first = momentOf(example, exampleVocabulary, 0); // four guesses, 23 tokens

test('a card says how the rollout ended, and success from the first update to the one in view', () => {
  const turns = first.episode?.turns;
  const ended = first.episode?.success ? `solved in ${turns} turns` : `not solved in ${turns} turns`;
  expect(cardWords(first, success).headline).toBe(`Update ${example.update}: ${ended}`);
  expect(cardWords({ ...first, lastCurveUpdate: 3 }, success).success).toMatch(/16 % → 50 %.*3 updates/);
  expect(cardWords({ ...first, lastCurveUpdate: 1 }, success).success).toMatch(/16 %$/);
  expect(cardWords(first, { x: [], y: [] }).success).toBe('');
  expect(cardWords(truncatedMoment(first, 5), success).headline).toContain('5 of 23 tokens');
});

/** Drawings are loaded when they are drawn. */
async function markupOf(moment: typeof first): Promise<string> {
  const { prelude } = await prerender(createElement(Card, { moment, address: 'ada.github.io' }));
  return new Response(prelude).text();
}

test('a card draws its board as far as its tokens go, none of its turns faint, and all of it where all tokens are shown', async () => {
  const guesses = async (tokens: number, chosenTurn: number | null) => {
    const markup = await markupOf(truncatedMoment(first, tokens, chosenTurn));
    expect(markup).not.toContain('data-later="true"');
    return markup.split('class="guess"').length - 1;
  };
  expect([await guesses(8, null), await guesses(20, null), await guesses(23, null), await guesses(23, 1)]).toEqual([
    1, 3, 4, 4,
  ]);
});

test('a card dots the words that are learned as a prediction, hatches the other words of the tool, and says so', async () => {
  const observed = first.rollout.kinds.map((kind) => kind === 'observation');
  const drawn = async (isPredicted: (t: number) => boolean) => {
    const observationMask = Float32Array.from(example.roles, (_, i) => Number(observed[i] === true && isPredicted(i)));
    const markup = await markupOf({ ...first, batch: { ...example, observationMask } });
    const patterns = [...markup.matchAll(/<pattern id="([^"]+)"[^>]*><(path|circle)/g)];
    const filled = (shape: string): number => {
      const id = patterns.find((pattern) => pattern[2] === shape)![1]!;
      return markup.split(`fill="url(#${id})"`).length - 1;
    };
    return [filled('path'), filled('circle'), markup.includes('Hatched'), markup.includes('Dotted')] as const;
  };
  // the start of the rollout has no room on the card
  const [[hatched], [, words]] = [await drawn(() => false), await drawn(() => true)];
  expect(words).toBeGreaterThan(3);
  expect(await drawn(() => false)).toEqual([hatched, 0, true, false]);
  expect(await drawn(() => true)).toEqual([hatched - words, words, false, true]);
  const lastWord = observed.lastIndexOf(true);
  expect(await drawn((t) => t !== lastWord)).toEqual([hatched - words + 1, words - 1, true, true]);
});

test('a rollout is filmed token by token, what the tool wrote at once, and its board goes along', () => {
  const frames = rolloutFrames(first);
  expect(frames.at(-1)?.moment).toMatchObject({ shown: 23, whole: true, turn: 4 });
  const shown = frames.map(({ moment }) => moment.shown);
  expect(shown).toEqual([...shown].sort((a, b) => a - b));
  const observed = frames.filter(({ moment }) => first.rollout.kinds[moment.shown - 1] === 'observation');
  expect(observed).toHaveLength(3); // of three tokens each, after every guess but the last
  expect(new Set(frames.map(({ moment }) => moment.turn))).toEqual(new Set([1, 2, 3, 4]));
});

test('a long rollout is filmed in at most 49 pictures, the last one whole', () => {
  const words = Array.from({ length: 400 }, (_, t) => `w${t}`);
  const tokens = words.map((_, t) => t);
  const rollout = {
    ...first.rollout,
    words,
    kinds: words.map(() => 'call' as const),
    turns: [{ turn: 1, spans: [{ kind: 'call' as const, tokens }] }],
  };
  const frames = rolloutFrames({ ...first, rollout });
  expect(frames.length).toBeLessThanOrEqual(49);
  expect(frames.at(-1)?.moment.shown).toBe(400);
});

test('a training is filmed from its first update to its last, each rollout from its own update on', () => {
  const batches = [10, 60, 160].map((update) => ({ batch: { ...example, update }, config: {} as never }));
  const frames = trainingFrames(batches, exampleVocabulary, 0);
  const updates = frames.map(({ moment }) => [moment.lastCurveUpdate, moment.batch.update] as const);
  expect(updates[0]).toEqual([10, 10]);
  expect(updates.at(-1)).toEqual([160, 160]);
  for (const [until, update] of updates) expect(update).toBe(until < 60 ? 10 : until < 160 ? 60 : 160);
  expect(updates.map(([until]) => until)).toContain(60);
});

test('a clip that is cancelled draws nothing more and rejects', async () => {
  const control = new AbortController();
  const draw = vi.fn(() => {
    control.abort(new Error('Cancelled.'));
    const pixels = new Uint8ClampedArray(800 * 420 * 4);
    return Promise.resolve({ getContext: () => ({ getImageData: () => ({ data: pixels }) }) } as never);
  });
  const making = { frames: rolloutFrames(first), draw, signal: control.signal, onProgress: () => undefined };
  await expect(makeClip(making)).rejects.toThrow('Cancelled.');
  expect(draw).toHaveBeenCalledTimes(1);
});

test('tokens that have no room on a card are the first, and "…" stands for them', () => {
  const words = Array.from({ length: 10 }, (_, t) => ({ t, text: `w${t}`, width: 30 }));
  const placed = (most: number) => brokenLines(words, 100, 5, most).map((line) => line.map(({ t, x }) => [t, x]));
  expect(placed(4).map((line) => line.length)).toEqual([3, 3, 3, 1]);
  expect(placed(2)).toEqual([
    [
      [-1, 0],
      [7, 35],
      [8, 70],
    ],
    [[9, 0]],
  ]);
});

test('the code of a frame holds its address with every & and quote written out', () => {
  const html = frameSnippet('curve', 'https://example.org/?embed=curve#/lab?v=2&seed=3"');
  expect(html).toContain('src="https://example.org/?embed=curve#/lab?v=2&amp;seed=3&quot;"');
});

test.each([
  ['?embed=curve', 'curve'],
  ['?x=1&embed=rollout', 'rollout'],
  ['?embed=toString', null],
  ['', null],
])('the address %s asks for the panel %s', (search, panel) => {
  expect(embeddedPanel(search)).toBe(panel);
});

test('of many updates the clip takes some, the first and the last among them', () => {
  const updates = Array.from({ length: 100 }, (_, i) => i + 1);
  const some = spread(updates, 20);
  expect([some.length, some[0], some.at(-1)]).toEqual([20, 1, 100]);
  expect(spread([1, 2], 20)).toEqual([1, 2]);
});

test('a card names the page’s address for others, and none that leads nowhere for them', () => {
  expect(readableAddress({ host: 'ada.github.io', pathname: '/rollout-playground/' }, '')).toBe(
    'ada.github.io/rollout-playground',
  );
  const local = { host: '127.0.0.1:4173', pathname: '/' };
  expect(readableAddress(local, '')).toBe('');
  expect(readableAddress(local, 'https://ada.github.io/rollout-playground/')).toBe('ada.github.io/rollout-playground');
});

test('SITE_URL is the address of a folder, or an error names it', () => {
  expect(siteAddress(undefined)).toBe(null);
  expect(siteAddress('https://ada.github.io/rollout-playground')?.href).toBe(
    'https://ada.github.io/rollout-playground/',
  );
  for (const wrong of ['ada.github.io', 'ftp://ada', 'https://ada.io/?x=1']) {
    expect(() => siteAddress(wrong), wrong).toThrow(wrong);
  }
});

test('a duel is filmed step by step, both agents at the same hidden number, until the slower one is through', () => {
  const recording = shippedRecording();
  const { before, after } = sidesOf(playsOf(recording, 0), recording, false, { chosenUpdate: null, ownPlays: [] });
  if (!before || !after) throw new Error('the recording follows no task');
  expect([before.update, after.update]).toEqual([0, 160]);
  expect([before.episode.seed, before.episode.success, after.episode.success]).toEqual([
    after.episode.seed,
    false,
    true,
  ]);
  const frames = duelFrames({ before, after, step: Infinity, toolTrained: false });
  const steps = frames.map(({ moment }) => moment.step);
  expect(steps).toEqual(
    Array.from({ length: Math.max(before.stepEnds.length, after.stepEnds.length) + 1 }, (_, step) => step),
  );
  const through = frames.map(({ moment: { step } }) => [isOver(before, step), isOver(after, step)].join());
  expect([through[0], through.at(-1)]).toEqual(['false,false', 'true,true']);
  const heads = frames.map(({ moment }) => duelHeadline(moment));
  expect(heads.at(-1)).toMatch(new RegExp(`160 .*solved in ${after.episode.turns} turns`));
  expect(heads[0]).not.toMatch(/solved/);
  // the clip rests on its end
  expect(frames.at(-1)?.ms).toBeGreaterThan(2 * (frames[0]?.ms ?? Infinity));
});

test.each([
  [{ task: 0, chosenUpdate: null }, ''],
  [{ task: 1, chosenUpdate: null }, '2'],
  [{ task: 0, chosenUpdate: 0 }, '1/0'],
  [{ task: 2, chosenUpdate: 160 }, '3/160'],
])('the stage with %j comes back from its address', (place, text) => {
  expect(stageSubpath(place)).toBe(text);
  expect(readStagePlace(text)).toEqual(place);
});

test('an address of the stage that can’t be read means the first task and the newest agent', () => {
  for (const text of ['0', 'x/3', '2/', '1/1/1', '-1', '1/-2', '9'.repeat(40)]) {
    expect(readStagePlace(text), text).toEqual({ task: 0, chosenUpdate: null });
  }
});

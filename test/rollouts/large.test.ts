import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { visible } from '../../src/base/visible.ts';
import { parseConfig } from '../../src/config/config.ts';
import { recordWithDefaults, type Segment } from '../../src/rollouts/rolloutRecord.ts';
import { meansByStep, nearestStep } from '../../src/rollouts/select.ts';
import { readLog, runLine, updateLine } from '../../src/runs/log.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { chunksOf, piecesOf } from '../../src/page/files/chunks.ts';
import { RecordTokens, recordTurns } from '../../src/ui/rollouts/RecordTokens.tsx';
import { StepChoice } from '../../src/ui/rollouts/StepsComparison.tsx';
import { processorClock } from '../processorClock.ts';

const segment = (text: string, at: number, tokens: number): Segment => ({
  ...{ role: 'action', kind: 'action', turn: 1, text },
  ...{ from: at * tokens, to: (at + 1) * tokens },
});
const count = (html: string, what: string) => html.split(what).length - 1;

/** A rollout of so many segments, with so many tokens each. */
function long(segments: number, tokens: number) {
  const ids = Array.from({ length: segments * tokens }, (_, t) => t);
  return recordWithDefaults({
    segments: Array.from({ length: segments }, (_, i) => segment(`Segment ${i}.`, i, tokens)),
    tokens: { ids, words: null, channels: { loss: ids.map(() => 1) } },
  });
}

test('of a rollout of 15,000 segments the page draws the first fifty at most, and knows where all others lie', () => {
  const record = long(15_000, 2);
  const html = renderToStaticMarkup(createElement(RecordTokens, { record, channel: null }));
  expect(count(html, 'class="span ')).toBeLessThanOrEqual(50);
  expect(count(html, 'class="span ')).toBeGreaterThan(10); // a screen and more
  const chunks = chunksOf(recordTurns(record, true));
  const spans = chunks.flatMap((turns) => turns.flatMap((turn) => turn.spans));
  expect(spans.map(({ text }) => text)).toEqual(record.segments.map(({ text }) => text));
  // turn 1 has its title once, however many chunks it goes through
  expect(chunks.flat().filter(({ continued }) => continued !== true)).toHaveLength(1);
  expect(count(html, 'style="height:')).toBe(chunks.length - 1);
});

test('of 90,000 tokens with a number each, at most 1,800 are drawn, in one segment or in many', () => {
  for (const record of [long(1, 90_000), long(150, 600), long(15_000, 6)]) {
    const html = renderToStaticMarkup(createElement(RecordTokens, { record, channel: 'loss' }));
    expect(count(html, 'class="token"')).toBeLessThanOrEqual(1800);
    expect(count(html, 'class="token"')).toBeGreaterThanOrEqual(200);
  }
});

test('a text of 3 MB is cut into pieces of 6,000 characters at most, of which nothing but ends of lines is lost', () => {
  for (const text of [
    'word and word\n'.repeat(220_000),
    'x'.repeat(3e6),
    '🎈'.repeat(1e6),
    'a word '.repeat(430_000),
  ]) {
    const pieces = piecesOf(text);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(6000);
    expect(pieces.join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''));
    expect(pieces.some((piece) => /[\ud800-\udbff]$/.test(piece))).toBe(false); // no letter is cut in two
  }
});

test('among 100,000 steps one is typed: no list of them is drawn, and the nearest is found', () => {
  const rows = 100_000;
  const step = new Float64Array(rows).map((_, row) => 2 * row);
  const columns = {
    ...{ file: new Int32Array(rows), group: new Int32Array(rows), success: new Int8Array(rows) },
    ...{ step, reward: step, turns: new Float32Array(rows), toolCalls: new Float32Array(rows) },
    ...{ tokens: new Float32Array(rows), characters: new Float32Array(rows) },
  };
  const seconds = processorClock();
  const { steps } = meansByStep(
    columns,
    Int32Array.from(step, (_, row) => row),
  );
  expect(seconds()).toBeLessThan(5); // about 0.1; by pairs it would be a hundred thousand times that
  expect(steps).toHaveLength(rows);
  const html = renderToStaticMarkup(createElement(StepChoice, { steps, step: 4, choose: () => undefined }));
  expect([count(html, '<option'), count(html, '<input')]).toEqual([0, 1]);
  expect([-5, 0, 1, 2.9, 77_777, 1e9, NaN].map((step) => steps[nearestStep(steps, step)]?.step)).toEqual([0, 0, 0, 2, 77_776, 199_998, 0]); // prettier-ignore
});

test('of a name of 3 MB only what is shown is taken apart', () => {
  const name = 'n'.repeat(3e6);
  const from = vi.spyOn(Array, 'from');
  expect(visible(name, 80)).toBe(`${'n'.repeat(79)}…`);
  const lengths = from.mock.calls.map(([of]: readonly { readonly length: number }[]) => of?.length ?? 0);
  from.mockRestore();
  expect(Math.max(...lengths)).toBeLessThan(200);
  const named = runWithDefaults({ id: 0, name, started: '2026-11-23T08:00:00.000Z', begun: parseConfig(), backend: { kind: 'cpu', adapter: name } }); // prettier-ignore
  const log = `${runLine(named)}\n${updateLine(1, { 'rollout/success': 0.5 })}\n`;
  const run = readLog(log, { name: 'a.jsonl', written: named.started });
  expect([run.name.length, run.backend.adapter.length]).toEqual([200, 200]);
});

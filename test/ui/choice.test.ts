import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { meanInterval, shareInterval } from '../../src/base/inference.ts';
import { ENV_NAMES } from '../../src/config/environments.ts';
import { PRESET_CARDS, PRESET_GROUPS, type PresetGroup, type PresetResult } from '../../src/config/presetCards.ts';
import { PRESETS, type PresetName } from '../../src/config/presets.ts';
import { parseResults } from '../../src/experiments/runResult.ts';
import { summaryOf } from '../../src/base/statistics.ts';
import { nextCard } from '../../src/ui/choice/PresetDialog.tsx';
import { SCENES } from '../../src/page/stage/scenes.ts';
import { resultTexts, timeWords } from '../../src/page/stage/presetTimes.ts';
import { expertScenes } from '../scenes.ts';

const NAMES = Object.keys(PRESETS) as PresetName[];
const measured = NAMES.flatMap((name): [PresetName, PresetResult][] => {
  const result = PRESET_CARDS[name].result;
  return result && result.source !== 'journal' ? [[name, result]] : [];
});

test('no shelf is empty, and what is learned is said in a line, of each preset another', () => {
  const groups = new Set<PresetGroup>(NAMES.map((name) => PRESET_CARDS[name].group));
  expect([...groups].sort()).toEqual(Object.keys(PRESET_GROUPS).sort());
  const lines = NAMES.map((name) => PRESET_CARDS[name].learns);
  expect(new Set(lines).size).toBe(NAMES.length);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(72); // two lines of a card on a phone
});

test('what is drawn of each environment is an episode of its expert, played again', () => {
  expect(Object.keys(SCENES).sort()).toEqual([...ENV_NAMES].sort());
  expect(expertScenes()).toEqual(SCENES);
});

test.each(measured)('what %s is expected to come to is what its shipped runs came to', (name, result) => {
  const text = readFileSync(`public/experiments/${result.source}.jsonl`, 'utf8');
  const runs = parseResults(text).results.filter(({ arm }) => arm === name);
  const at = (i: number) => summaryOf(runs.map(({ heldOut }) => heldOut.at(i)?.[1] ?? NaN));
  const after = at(-1);
  const interval = meanInterval(after);
  const three = (x: number | undefined) => Number((x ?? NaN).toFixed(3)); // digits that are kept
  expect(result.seeds).toBe(runs.length);
  expect(result.before).toBeCloseTo(three(at(0).mean), 3);
  expect(result.after).toBeCloseTo(three(after.mean), 3);
  // seeds that all came out alike say nothing of their spread
  expect(result.low).toEqual(interval && three(interval.low));
  expect(result.high).toEqual(interval && three(interval.high));
  expect(result.curve?.length).toBe(runs[0]?.heldOut.length);
  result.curve?.forEach((mean, i) => expect(Math.abs(mean - at(i).mean)).toBeLessThanOrEqual(0.0051)); // two digits
  const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b);
  const middle = ((seconds[runs.length / 2] ?? NaN) + (seconds[runs.length / 2 - 1] ?? NaN)) / 2;
  expect(Math.abs(result.seconds - middle)).toBeLessThanOrEqual(0.5);
});

test('what the calculator of SmolLM2 is expected to come to is what the records of its three seeds say', () => {
  const records = ['2026-11-23-smollm2-calculator.jsonl', '2026-11-24-smollm2-calculator-seeds.jsonl'];
  const lines = records.flatMap((name) => readFileSync(`docs/journal/raw/${name}`, 'utf8').trim().split('\n'));
  const rows = lines.map(
    (line) => JSON.parse(line) as { run: string; eval?: string; tasks?: number; success?: number },
  );
  const own = rows.filter(({ run, tasks }) => tasks === 200 && !run.includes('nonsense')); // the control is none of them
  const at = (when: string) => own.filter((row) => row.eval === when).map((row) => row.success ?? NaN);
  const after = summaryOf(at('end'));
  const interval = meanInterval(after);
  const result = PRESET_CARDS['smollm2-calculator'].result;
  expect(at('end')).toHaveLength(result?.seeds ?? 0);
  expect(PRESETS['smollm2-calculator'].set.updates).toBe(20); // which the records end after
  expect(at('before')).toEqual([result?.before]);
  expect(result?.after).toBeCloseTo(after.mean, 3); // three digits are kept
  expect(result?.low).toBeCloseTo(interval?.low ?? NaN, 3);
  expect(result?.high).toBeCloseTo(interval?.high ?? NaN, 3);
});

test('what the search of SmolLM2 is expected to come to is what the records of all its seeds say', () => {
  const records = ['', '-seeds', '-seed-7'].map((part) => `2026-11-25-smollm2-search${part}.jsonl`);
  const lines = records.flatMap((name) => readFileSync(`docs/journal/raw/${name}`, 'utf8').trim().split('\n'));
  const rows = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const own = rows.filter(({ run }) => /^search-\d+$/.test(String(run)));
  const at = (update: number) =>
    own.filter((row) => row['update'] === update).flatMap((row) => (row['eval/success'] === undefined ? [] : [Number(row['eval/success'])])); // prettier-ignore
  const after = summaryOf(at(14));
  const interval = meanInterval(after);
  const result = PRESET_CARDS['smollm2-search'].result;
  expect(at(14)).toHaveLength(result?.seeds ?? 0);
  expect(at(0)).toHaveLength(result?.seeds ?? 0);
  expect(PRESETS['smollm2-search'].set.updates).toBe(14);
  const [, middle] = own
    .flatMap(({ finished, cpu }) => (finished === 14 && cpu !== undefined ? [Number(cpu)] : []))
    .sort((a, b) => a - b);
  expect(result?.seconds).toBe(Math.round(middle ?? NaN));
  expect(Math.abs((result?.before ?? NaN) - summaryOf(at(0)).mean)).toBeLessThanOrEqual(0.00051); // three digits are kept
  expect(result?.after).toBeCloseTo(after.mean, 3);
  expect(result?.low).toBeCloseTo(interval?.low ?? NaN, 3);
  expect(result?.high).toBeCloseTo(interval?.high ?? NaN, 3);
});

test('SmolLM2 without reward, or with a tool that does not tell the truth, stays below what reward came to on the same seed, beyond both intervals', () => {
  interface Row {
    readonly run: string;
    readonly update?: number;
    readonly eval?: string;
    readonly success?: number;
    readonly 'eval/success'?: number;
  }
  const rows = (name: string) =>
    readFileSync(`docs/journal/raw/2026-11-2${name}.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Row); // prettier-ignore
  const share = (name: string, run: string, update: number) =>
    rows(name).find((row) => row.run === run && row.update === update && row['eval/success'] !== undefined)?.['eval/success'] ?? NaN; // prettier-ignore
  const low = (x: number) => shareInterval(Math.round(200 * x), 200).low;
  const high = (x: number) => shareInterval(Math.round(200 * x), 200).high;
  const search = share('5-smollm2-search-seeds', 'search-3', 14);
  for (const [run, update, told] of [
    ['nonsense-3', 14, 0.075],
    ['imitation-3', 0, 0.32],
    ['packaged-3', 0, 0],
  ] as const) {
    // prettier-ignore
    const control = share('5-smollm2-search-controls', run, update);
    expect(control, run).toBe(told); // as the journal and the page on text models have it
    expect(high(control), run).toBeLessThan(low(search));
  }
  const imitated = share('5-smollm2-calculator-controls', 'imitation-1', 0);
  expect(imitated).toBe(0.04);
  const ends = rows('3-smollm2-calculator').filter(({ eval: when }) => when === 'end');
  expect(high(imitated)).toBeLessThan(low(ends[0]?.success ?? NaN));
});

test('where seeds differ by all there is, the interval is all that is possible', () => {
  const spread = { before: 0, after: 0.5, low: -0.1, high: 1.2, seeds: 3, seconds: 1, source: 'journal' } as const;
  expect(resultTexts(spread).certainty).toBe('95 %: 0 to 100 %');
  expect(resultTexts({ ...spread, high: 0.9 }).certainty).toBe('95 %: 0 to 90 %');
});

test('a result never says more than was measured: no interval without seeds enough, none past 0 or 100 %', () => {
  const sure = PRESET_CARDS['multi-hop'].result;
  if (!sure) throw new Error('it was measured');
  expect(resultTexts({ ...sure, low: null, high: null, seeds: 2 })).toMatchObject({
    certainty: 'too few seeds for an interval',
    average: 'mean of 2 training runs',
  });
  expect(resultTexts({ ...sure, after: 1, low: null, high: null })).toMatchObject({
    certainty: 'each run had this result',
    average: 'mean of 8 training runs',
  });
  expect(sure.high).toBeGreaterThan(1);
  expect(resultTexts(sure)).toEqual({
    change: '18 % → 98 %',
    certainty: '95 %: 95 to 100 %',
    average: 'mean of 8 training runs',
  });
});

test('how long a preset takes here goes by the run of this page; without one it is said where it was measured', () => {
  expect(timeWords('your-facts', null)).toBeNull();
  expect(timeWords('calculator', null)?.text).toBe('15 s on our CPU');
  const { seconds: hunt } = PRESET_CARDS['number-hunt'].result ?? { seconds: NaN };
  // 160 updates of twice the time that they took where it was measured
  const here = { preset: 'number-hunt', secondsPerUpdate: (2 * hunt) / 160 } as const;
  expect(timeWords('calculator', here)?.text).toBe('about 30 s here');
  expect(timeWords('rlhf', here)?.text).toBe('about 5 min here');
  expect(timeWords('calculator', { preset: 'your-facts', secondsPerUpdate: 1 })?.text).toBe('15 s on our CPU');
});

test('arrows go from card to card: in order, and to the nearest of the row above or below, over shelves of other widths', () => {
  const card = (left: number, top: number) => ({ left, top, right: left + 90, bottom: top + 90 });
  const places = [card(0, 0), card(100, 0), card(200, 0), card(0, 100), card(0, 300), card(100, 300)];
  expect(nextCard(places, 0, 'ArrowRight')).toBe(1);
  expect(nextCard(places, 0, 'ArrowLeft')).toBe(0);
  expect(nextCard(places, 2, 'ArrowDown')).toBe(3);
  expect(nextCard(places, 3, 'ArrowDown')).toBe(4);
  expect(nextCard(places, 5, 'ArrowUp')).toBe(3);
  expect(nextCard(places, 4, 'ArrowDown')).toBe(4);
  expect(nextCard(places, 4, 'Home')).toBe(0);
  expect(nextCard(places, 0, 'End')).toBe(5);
  expect(nextCard(places, 0, 'a')).toBe(-1);
});

import { beforeEach, expect, test, vi } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { YOUR_ENVIRONMENT } from '../../src/config/environments.ts';
import { checkpointOf } from '../../src/runs/checkpoint.ts';
import { runWithDefaults, type Run } from '../../src/runs/run.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { addressSelection, recordingInView } from '../../src/page/view/address.ts';
import { readHash, DEFAULT_SELECTION, type AddressSelection } from '../../src/page/address/hash.ts';
import { goTo } from '../../src/page/address/route.ts';
import { configStateFromHash, editKnobs, presetConfig, useConfig } from '../../src/page/knobs/configStore.ts';
import { readRollout } from '../../src/page/rollout/readRollout.ts';
import { applyEvent, flush } from '../../src/page/training/runEvents.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { linkedRun } from '../../src/page/share/linkedRun.ts';
import { embedHash, sharedHash } from '../../src/page/share/sharedAddress.ts';
import { lastUpdate, missingTargets } from '../../src/page/view/linkTargets.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { example, exampleVocabulary } from './example.ts';
import { fakeReady, fakeUpdate } from './fake-run.ts';

// What the page does with a link that Share made: it reads the link as another page would, and lists what it warns of.

const BEGUN = parseConfig({ ...presetConfig('number-hunt'), seed: 3, updates: 4 });

beforeEach(() => {
  vi.stubGlobal('document', { hidden: true, title: '' });
  useConfig.setState(configStateFromHash(''));
  useSelection.setState({ ...DEFAULT_SELECTION, linkTarget: null });
  useLive.setState({ session: 'none', update: 0 });
  useLive.setState({ isExample: false });
  goTo('#/lab');
});

/** A run in the lab after `updates` updates; the batch in view is the last one. */
function train(updates: number, from: Run | null = null, config: RunConfig = BEGUN, own = {}): void {
  useConfig.setState({ wanted: config });
  const resuming = from && { run: from };
  const send = (event: RunEvent) => applyEvent(event as never, resuming, { facts: null, environment: null, ...own });
  const first = from?.checkpoint?.progress.update ?? 0;
  send({ ...fakeReady(config), update: first } as RunEvent);
  for (let update = first + 1; update <= updates; update++) {
    for (const event of fakeUpdate(update, 0, config)) {
      send(event.type === 'batch' ? { ...event, kept: [update], bytes: 1 } : event);
    }
  }
  flush({ atOnce: true });
}

/** What a page without a run says of a link, and what it says once it has trained the link's run as far as the link asks. */
function warnings(hash: string): readonly string[] {
  const { corrections, selection, changes = [], config } = readHash(hash);
  const view = { batch: example, episode: undefined, rollout: readRollout(example, exampleVocabulary, selection.row) };
  const updates = lastUpdate(config.updates, changes);
  const at = (update: number | null, shown: number) =>
    missingTargets(selection, selection, { ...view, batch: { ...example, update: shown } }, { update, updates });
  return [
    ...corrections,
    ...at(null, selection.recorded ?? example.update),
    ...(selection.shownUpdate === null ? [] : at(selection.shownUpdate, selection.shownUpdate)),
  ];
}

const link = () => sharedHash(linkedRun());
const placeIn = (hash: string): Partial<AddressSelection> => {
  const { shownUpdate, recorded, row, token } = readHash(hash).selection;
  return { shownUpdate, recorded, row, token };
};
const NOWHERE = { shownUpdate: null, recorded: null, row: 0, token: null };

test('a link to a prolonged run holds its number of updates, and its update is one that the run gets to', () => {
  train(4);
  editKnobs({ updates: 9 });
  applyEvent({ type: 'configured', update: 5, step: 0, changes: { updates: 9 } }, null);
  for (const event of fakeUpdate(7, 0, { ...BEGUN, updates: 9 })) {
    applyEvent(event.type === 'batch' ? { ...event, kept: [7], bytes: 1 } : event, null);
  }
  flush({ atOnce: true });
  useSelection.setState({ row: 2, token: 3 });
  const hash = link();
  expect(hash).toContain('updates=9');
  expect(placeIn(hash)).toEqual({ shownUpdate: 7, recorded: null, row: 2, token: 3 });
  expect(warnings(hash)).toEqual([]);
});

test.each([
  ['lowered in the middle', 9, [[3, 5]], 5],
  ['lowered below where the run is', 9, [[7, 5]], 6],
  ['raised after the end, twice', 4, [[5, 9], [10, 12]], 12], // prettier-ignore
  ['raised at an update that never comes', 4, [[7, 9]], 4],
] as const)('a run ends after the updates that its changes of Updates leave: %s', (_, updates, changes, end) => {
  expect(
    lastUpdate(
      updates,
      changes.map(([update, to]) => ({ update, step: 0, set: { updates: to } })),
    ),
  ).toBe(end);
});

/** A saved run that trained for some updates; with `start`, it began from a model's file. */
const saved = (update: number, fields: Partial<Run> = {}, start?: Map<string, Float32Array>): Run => ({
  ...runWithDefaults({ id: 1, name: 'saved', started: '', begun: BEGUN, update }),
  checkpoint: checkpointOf({
    ...{ begun: BEGUN, config: BEGUN, vocabulary: exampleVocabulary, rewardModel: null, ...(start && { start }) },
    networks: { policy: { weights: new Map(), adamM: new Map(), adamV: new Map(), steps: 0 }, critic: null },
    progress: { ...noProgress(), update },
  }),
  ...fields,
});

test('a link to a resumed run leads to its update', () => {
  train(3, saved(2));
  useSelection.setState({ row: 1 });
  expect(placeIn(link())).toEqual({ ...NOWHERE, shownUpdate: 3, row: 1 });
  expect(warnings(link())).toEqual([]);
});

test.each<[string, () => void, string]>([
  ['a fork', () => train(3, saved(2, { fork: { run: 1, update: 1 } })), 'fork'],
  ['a run that began with a model’s file', () => train(3, saved(0, {}, new Map())), 'fork'],
  ['a run with an environment of one’s own', () => train(3, null, parseConfig({ ...BEGUN, env: YOUR_ENVIRONMENT }), { environment: { name: 'a.ts', text: 'x' } }), 'environment'], // prettier-ignore
])('a link that cannot hold the run leads to no update of it: %s', (_, begin, why) => {
  begin();
  useSelection.setState({ row: 2, token: 3, shownUpdate: 3 });
  expect(linkedRun().unlinkable).toBe(why);
  expect(placeIn(link())).toEqual(NOWHERE);
  expect(warnings(link())).toEqual([]);
});

test('a place that the batch in view does not have is not in a link', () => {
  train(3);
  useSelection.setState({ row: 0, turn: 6, token: 99 });
  expect(readHash(link()).selection).toEqual(DEFAULT_SELECTION);
  useSelection.setState({ row: 7777, token: 2 });
  expect(warnings(link())).toEqual([]);
});

/** Puts a recorded batch in view, as the player does. */
function showRecording(update: number): void {
  useLive.setState({ batch: { ...example, update } });
  useLive.setState({ vocabulary: exampleVocabulary });
  useLive.setState({ isExample: true });
}

test('a link to a recording names it where the knobs alone would bring another one', () => {
  showRecording(25);
  expect(link()).not.toContain('recording=');
  // the knobs of another preset with the same environment, set by hand
  useConfig.setState({ wanted: presetConfig('break-it') });
  expect(recordingInView(presetConfig('break-it'))).toBe('number-hunt');
  expect(readHash(link())).toMatchObject({ recording: 'number-hunt', selection: { recorded: 25 } });
  expect(configStateFromHash(link()).preset).toBe('number-hunt');
  expect(warnings(link())).toEqual([]);
});

test('an opened link is handed on as it came while its update is not trained yet', () => {
  const selection = { ...DEFAULT_SELECTION, shownUpdate: 3, row: 5, token: 4 };
  showRecording(25);
  useSelection.setState({ ...selection, linkTarget: selection });
  expect(placeIn(link())).toEqual({ shownUpdate: 3, recorded: null, row: 5, token: 4 });
  useSelection.setState({ row: 1 }); // of the recording, which is in view
  expect(placeIn(link())).toEqual({ ...NOWHERE, recorded: 25, row: 1, token: 4 });
});

test.each(['stage', 'runs', 'models', 'train', 'learn/en/mask'])('a link to #/%s points at no rollout', (screen) => {
  train(3);
  useSelection.setState({ row: 2, shownUpdate: 2 });
  goTo(`#/${screen}`);
  expect(placeIn(link())).toEqual(NOWHERE);
  expect(warnings(link())).toEqual([]);
});

test.each(['rollouts?rollout=5', 'environment', 'experiments', 'stage'])(
  'a frame made on #/%s shows the rollout of the lab',
  (screen) => {
    showRecording(25);
    goTo(`#/${screen}`);
    const hash = embedHash('rollout', linkedRun());
    expect(hash).toMatch(/^#\/lab\?/);
    expect(placeIn(hash)).toEqual({ ...NOWHERE, recorded: 25 });
    expect(warnings(hash)).toEqual([]);
  },
);

test('what is selected comes back from a link', () => {
  train(3);
  const selected = {
    ...DEFAULT_SELECTION,
    shownUpdate: 3,
    row: 1,
    token: 4,
    hide: 'curves',
    channel: 'reward' as const,
  };
  useSelection.setState(selected);
  expect(readHash(link()).selection).toEqual(addressSelection(selected));
});

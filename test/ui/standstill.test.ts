import { beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { applyEvent, flush } from '../../src/page/training/runEvents.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import type { TrainingEvent } from '../../src/domain/trainingEvent.ts';
import { fakeReady, fakeUpdate } from './fake-run.ts';

type Opening = Extract<ReturnType<typeof fakeReady>, { type: 'ready' }>;
const opening = fakeReady(parseConfig()) as Opening;
const update = fakeUpdate(1);
const of = (type: TrainingEvent['type']) => update.find((event) => event.type === type)!;
const stands = (done: number) => applyEvent({ type: 'running', running: false, update: done, finished: false }, null);
const told = () => {
  const { running, stepping, phase } = useLive.getState();
  return { running, stepping, phase };
};

beforeEach(() => {
  vi.stubGlobal('document', { hidden: true, title: '' });
  applyEvent(opening, null);
  return () => vi.unstubAllGlobals();
});

test('a step that only ends an update, as of a run paused within it, is over when the worker says so', () => {
  applyEvent(of('phase') as Extract<TrainingEvent, { type: 'phase' }>, null);
  stands(0); // paused
  useLive.setState({ stepping: true });
  applyEvent(of('metrics') as Extract<TrainingEvent, { type: 'metrics' }>, null);
  stands(1);
  expect(told()).toEqual({ running: false, stepping: false, phase: 'idle' });
});

test('a step asked for with the start is under way until something of an update has come', () => {
  useLive.setState({ stepping: true });
  stands(0); // the start, paused
  expect(told().stepping).toBe(true);
  applyEvent(of('metrics') as Extract<TrainingEvent, { type: 'metrics' }>, null);
  stands(1);
  expect(told().stepping).toBe(false);
});

test('a run that was rolled back after a number that is not finite is at no stage of an update', () => {
  applyEvent(of('phase') as Extract<TrainingEvent, { type: 'phase' }>, null);
  const rolled = { message: 'Rolled back to update 0', hint: '', fields: [] };
  applyEvent({ type: 'error', fatal: false, cause: 'non-finite', ...rolled }, null);
  stands(0);
  expect(told()).toEqual({ running: false, stepping: false, phase: 'idle' });
});

test('a TRAP in a hidden tab opens its panel when the tab is shown, and no sooner', () => {
  useSelection.setState({ health: false });
  const health = { state: 'trap', since: 2, kind: null, evidence: [], remedies: [] } as const;
  applyEvent({ type: 'health', update: 2, health }, null);
  expect(useSelection.getState().health).toBe(false);
  flush();
  expect(useSelection.getState().health).toBe(true);
  expect(useLive.getState().health?.state).toBe('trap');
});

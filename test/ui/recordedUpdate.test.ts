import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CHAPTERS } from '../../src/page/learn/chapters.ts';
import { drawnShare } from '../../src/page/learn/findings.ts';
import type { Exercise } from '../../src/page/learn/exercise.ts';
import { pauseRecordingAt } from '../../src/page/learn/recordedUpdateView.ts';
import { play, playBatchFromStart, useReplay } from '../../src/page/view/player.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import { shippedRecording } from '../shippedRecording.ts';

const FIRST = { preset: 'number-hunt', update: 1 } as const;
const recording = shippedRecording();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', () => 0);
  useReplay.setState({
    recording,
    preset: 'number-hunt',
    loadFailed: false,
    knobsDiffer: false,
    trainingBegan: false,
    batchIndex: 0,
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('what is counted in an exercise on the recording is the same whenever it is opened, and the recording stays there', () => {
  const found = recording.batches.map((_, at) => {
    playBatchFromStart(at);
    play();
    const seen = pauseRecordingAt(FIRST);
    vi.advanceTimersByTime(60_000); // a recording that plays on is elsewhere by then
    expect(useReplay.getState()).toMatchObject({ batchIndex: 0, playing: false });
    expect(useSelection.getState().revealed).toBe(null);
    expect(useLive.getState().batch).toBe(seen?.batch);
    return drawnShare(seen ? [seen] : []);
  });
  expect(found.length).toBeGreaterThan(2);
  for (const each of found) expect(each).toMatchObject({ answer: 'middle', numbers: { tokens: 166, drawn: 87 } });
});

test('nothing is counted where another recording is in view, or a run', () => {
  for (const other of [
    { preset: 'multi-hop' },
    { knobsDiffer: true },
    { trainingBegan: true },
    { recording: null },
  ] as const) {
    useReplay.setState({ recording, preset: 'number-hunt', knobsDiffer: false, trainingBegan: false, ...other });
    expect(pauseRecordingAt(FIRST)).toBe(null);
  }
});

test('every exercise has something to train or to read, and what it reads of a recording is there', () => {
  for (const { exercises } of CHAPTERS) {
    for (const { id, arms, shipped, recordedUpdate } of exercises as readonly Exercise[]) {
      expect([arms.length > 0, shipped !== undefined, recordedUpdate !== undefined].filter(Boolean), id).toHaveLength(
        1,
      );
      if (!recordedUpdate) continue;
      const updates = shippedRecording(recordedUpdate.preset).batches.map(({ batch }) => batch.update);
      expect(updates, id).toContain(recordedUpdate.update);
    }
  }
});

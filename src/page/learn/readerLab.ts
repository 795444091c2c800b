import { create } from 'zustand';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../view/liveStore.ts';
import { start } from '../training/transport.ts';
import { pausedRun } from '../training/pausedRun.ts';
import { resume } from '../training/resumeRun.ts';
import { discardRun } from '../training/discardRun.ts';
import { pause as pauseRecording } from '../view/player.ts';
import { deleteSave } from '../runs/database.ts';
import { saveNow } from '../runs/saving.ts';
import { freshSaveSlot, ownSaveSlot, takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';
import type { Run } from '../../runs/run.ts';
import { useSelection } from '../view/selectionStore.ts';
import { ExerciseError } from './learnMessage.ts';

type KnobState = Pick<
  ReturnType<typeof useConfig.getState>,
  'wanted' | 'planned' | 'preset' | 'undoHistory' | 'lastEditedKnob'
>;
type SelectionSnapshot = Pick<
  ReturnType<typeof useSelection.getState>,
  'row' | 'token' | 'turn' | 'channel' | 'shownUpdate' | 'revealed' | 'scale' | 'curves' | 'health'
>;

interface ReaderLab {
  readonly knobs: KnobState;
  readonly selection: SelectionSnapshot;
  readonly runNumber: number; // `useLive.run` before the exercise; if it differs later, the exercise has trained
  readonly run: Run | null; // the run to resume; null: there was none, or it had not trained yet
  readonly wasReady: boolean; // whether a run was ready, possibly without any update
  readonly saveSlot: string;
}

/** The reader's lab as it was before an exercise took it; null while no exercise uses the lab. */
export const useReaderLab = create<{ readonly lab: ReaderLab | null }>()(() => ({ lab: null }));

let lastReturn: Promise<void> = Promise.resolve(); // the last return of a lab; the next exercise waits for it

/**
 * Pauses the run and remembers the lab, so that an exercise can use it. Does nothing if an exercise already uses it.
 * Until the lab is returned, its run has a save of its own, so a reload during an exercise doesn't lose it. Rejects if
 * the run doesn't give its checkpoint in time, because it would be lost.
 */
export async function takeLab(): Promise<void> {
  await lastReturn;
  if (useReaderLab.getState().lab) return;
  pauseRecording();
  const { session, update, run: runNumber } = useLive.getState();
  const trained = session === 'ready' && update > 0;
  const run = await pausedRun();
  if (trained && !run) throw new ExerciseError({ word: 'notHandedOut' });
  saveNow();
  const { wanted, planned, preset, undoHistory, lastEditedKnob } = useConfig.getState();
  const { row, token, turn, channel, shownUpdate, revealed, scale, curves, health } = useSelection.getState();
  useReaderLab.setState({
    lab: {
      knobs: { wanted, planned, preset, undoHistory, lastEditedKnob },
      selection: { row, token, turn, channel, shownUpdate, revealed, scale, curves, health },
      ...{ runNumber, run, wasReady: session === 'ready', saveSlot: ownSaveSlot() },
    },
  });
  if (run) await takeSaveSlot(freshSaveSlot());
}

/** Restores the remembered lab: its knobs, its selection, and its run, paused, or the recording. */
export function returnLab(): Promise<void> {
  const { lab } = useReaderLab.getState();
  useReaderLab.setState({ lab: null });
  if (lab) lastReturn = restore(lab);
  return lastReturn;
}

async function restore({ knobs, selection, run, wasReady, runNumber, saveSlot }: ReaderLab): Promise<void> {
  const exerciseSlot = ownSaveSlot();
  useConfig.setState(knobs);
  useSelection.setState(selection);
  const current = useLive.getState();
  if (current.run === runNumber && (current.session === 'ready') === wasReady) await takeSaveSlot(saveSlot);
  else {
    const runBefore = useLive.getState().run;
    if (run) await resume(run, saveSlot);
    else if (wasReady) {
      await takeSaveSlot(saveSlot);
      start(false);
    } else {
      await discardRun();
      await takeSaveSlot(saveSlot);
    }
    if (run || wasReady) await waitForNextRun(runBefore);
    useRuns.setState({ replaced: null });
  }
  // the exercise's run may never have been saved
  if (exerciseSlot !== saveSlot && ownSaveSlot() === saveSlot) deleteSave(exerciseSlot).catch(() => undefined);
  // again, because resuming a run sets its own knobs and selection
  useConfig.setState(knobs);
  useSelection.setState(selection);
}

/** Keeps the exercise's run in the lab. The lab from before the exercise isn't restored. */
export function keepExerciseRun(): void {
  useReaderLab.setState({ lab: null });
}

/** Resolves once a run other than `runBefore` has begun, or failed to begin. */
function waitForNextRun(runBefore: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      const { run, problem } = useLive.getState();
      if (run === runBefore && !problem) return;
      stop();
      resolve();
    };
    const stop = useLive.subscribe(check);
    check();
  });
}

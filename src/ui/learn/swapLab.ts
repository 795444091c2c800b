import { create } from 'zustand';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { start } from '../run/transport.ts';
import { discardRun } from '../run/discardRun.ts';
import { resume } from '../resume/resumeRun.ts';
import { pause as pauseRecording } from '../replay/player.ts';
import { dropSaved } from '../runs/database.ts';
import { saveNow } from '../runs/saving.ts';
import { pausedRun } from '../runs/pausedRun.ts';
import { freshSaveSlot, ownSaveSlot, takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';
import type { Run } from '../../runs/run.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { ExerciseError } from './learnMessage.ts';

type Knobs = Pick<ReturnType<typeof useConfig.getState>, 'wanted' | 'planned' | 'preset' | 'past' | 'lastEdit'>;
type Looks = Pick<
  ReturnType<typeof useSelection.getState>,
  'row' | 'token' | 'turn' | 'channel' | 'shownUpdate' | 'revealed' | 'scale' | 'curves' | 'health'
>;

/** The reader's lab before an exercise began. */
interface Lab {
  readonly knobs: Knobs;
  readonly looks: Looks;
  readonly began: number; // `useLive.run` at the time; if it differs later, the exercise has trained
  readonly run: Run | null; // the run to resume; null: there was none, or it had not trained yet
  readonly opened: boolean; // a run was ready, possibly without any update
  readonly slot: string; // where the run is saved
}

/** The reader's lab as it was, while an exercise uses the lab; null when none does. */
export const useTakenLab = create<{ readonly lab: Lab | null }>()(() => ({ lab: null }));

let returning: Promise<void> = Promise.resolve(); // the last return of a lab; the next exercise waits for it

/**
 * Pauses the run and remembers the lab, so that an exercise can use it. Does nothing if an exercise already uses it.
 * Until the lab is returned, its run has a save of its own, so a reload during an exercise doesn't lose it. Rejects if
 * the run doesn't give its checkpoint in time, because it would be lost.
 */
export async function takeLab(): Promise<void> {
  await returning;
  if (useTakenLab.getState().lab) return;
  pauseRecording();
  const { session, update, run: began } = useLive.getState();
  const trained = session === 'ready' && update > 0;
  const run = await pausedRun();
  if (trained && !run) throw new ExerciseError({ word: 'notHandedOut' });
  saveNow();
  const { wanted, planned, preset, past, lastEdit } = useConfig.getState();
  const { row, token, turn, channel, shownUpdate, revealed, scale, curves, health } = useSelection.getState();
  useTakenLab.setState({
    lab: {
      knobs: { wanted, planned, preset, past, lastEdit },
      looks: { row, token, turn, channel, shownUpdate, revealed, scale, curves, health },
      ...{ began, run, opened: session === 'ready', slot: ownSaveSlot() },
    },
  });
  if (run) await takeSaveSlot(freshSaveSlot());
}

/** Restores the remembered lab: its knobs, its selection, and its run, paused, or the recording. */
export function returnLab(): Promise<void> {
  const { lab } = useTakenLab.getState();
  useTakenLab.setState({ lab: null });
  if (lab) returning = restore(lab);
  return returning;
}

async function restore({ knobs, looks, run, opened, began, slot }: Lab): Promise<void> {
  const exerciseSlot = ownSaveSlot();
  useConfig.setState(knobs);
  useSelection.setState(looks);
  const now = useLive.getState();
  if (now.run === began && (now.session === 'ready') === opened) await takeSaveSlot(slot);
  else {
    const before = useLive.getState().run;
    if (run) await resume(run, slot);
    else if (opened) {
      await takeSaveSlot(slot);
      start(false);
    } else {
      await discardRun();
      await takeSaveSlot(slot);
    }
    if (run || opened) await nextRun(before);
    useRuns.setState({ replaced: null });
  }
  // it may never have been saved
  if (exerciseSlot !== slot && ownSaveSlot() === slot) dropSaved(exerciseSlot).catch(() => undefined);
  // again, because resuming a run sets its own knobs and selection
  useConfig.setState(knobs);
  useSelection.setState(looks);
}

/** Keeps the exercise's run in the lab. The lab from before the exercise isn't restored. */
export function keepExerciseRun(): void {
  useTakenLab.setState({ lab: null });
}

/** Resolves once a run other than `before` has begun, or failed to begin. */
function nextRun(before: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      const { run, problem } = useLive.getState();
      if (run === before && !problem) return;
      stop();
      resolve();
    };
    const stop = useLive.subscribe(check);
    check();
  });
}

import { create } from 'zustand';
import { useConfig } from '../knobs/configStore.ts';
import { newestBatch } from '../run/batches.ts';
import { useLive } from '../run/liveStore.ts';
import { pause, start } from '../run/transport.ts';
import { discardRun } from '../run/discardRun.ts';
import { resume } from '../resume/resumeRun.ts';
import { pause as pauseRecording } from '../replay/player.ts';
import { dropSaved } from '../runs/database.ts';
import { latestCheckpoint, saveNow } from '../runs/saving.ts';
import { freshSaveSlot, ownSaveSlot, takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';
import type { Run } from '../../runs/run.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { Unable } from './said.ts';

type Knobs = Pick<ReturnType<typeof useConfig.getState>, 'wanted' | 'preset' | 'past' | 'lastEdit'>;
type Looks = Pick<
  ReturnType<typeof useSelection.getState>,
  'row' | 'token' | 'turn' | 'channel' | 'held' | 'revealed' | 'scale' | 'curves' | 'health'
>;

/** The lab as its reader had it before an exercise began. */
interface Lab {
  readonly knobs: Knobs;
  readonly looks: Looks;
  readonly began: number; // `useLive.run`: another one now means that the exercise has trained
  readonly run: Run | null; // to go on with; null: there was none, or none that had trained
  readonly opened: boolean; // a run stood at its start
  readonly slot: string; // where the run is saved
}

/** The reader's lab, while an exercise has it. */
export const useBorrowed = create<{ readonly lab: Lab | null }>()(() => ({ lab: null }));

let giving: Promise<void> = Promise.resolve(); // what was given back last: the next exercise waits for it

const HANDED_OUT_MS = 20_000; // a paused run hands its state out once the update under way is done
const LOOK_MS = 50;

/**
 * Notes the lab as it is, its run with it, so that an exercise can have it; pauses the run. Nothing happens where an exercise has it
 * already. A run is saved apart meanwhile: a reload in the middle of an exercise does not lose it. Rejects where the run does not hand
 * its state out: it would be lost.
 */
export async function borrow(): Promise<void> {
  await giving;
  if (useBorrowed.getState().lab) return;
  pauseRecording();
  const { running, session, update, run: began } = useLive.getState();
  if (running) pause();
  const trained = session === 'ready' && update > 0;
  const run = trained ? await stateOfRun() : null;
  if (trained && !run) throw new Unable({ word: 'notHandedOut' });
  saveNow();
  const { wanted, preset, past, lastEdit } = useConfig.getState();
  const { row, token, turn, channel, held, revealed, scale, curves, health } = useSelection.getState();
  useBorrowed.setState({
    lab: {
      knobs: { wanted, preset, past, lastEdit },
      looks: { row, token, turn, channel, held, revealed, scale, curves, health },
      ...{ began, run, opened: session === 'ready', slot: ownSaveSlot() },
    },
  });
  if (run) await takeSaveSlot(freshSaveSlot());
}

/** Gives the lab back as it was noted: knobs, what was looked at, and the run, paused, or the recording. */
export function giveBack(): Promise<void> {
  const { lab } = useBorrowed.getState();
  useBorrowed.setState({ lab: null });
  if (lab) giving = restore(lab);
  return giving;
}

async function restore({ knobs, looks, run, opened, began, slot }: Lab): Promise<void> {
  const used = ownSaveSlot();
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
    if (run || opened) await isThere(before);
    useRuns.setState({ replaced: null });
  }
  if (used !== slot && ownSaveSlot() === slot) dropSaved(used).catch(() => undefined); // it may never have been saved
  useConfig.setState(knobs); // a run that goes on brings its own
  useSelection.setState(looks); // and its own rollouts
}

/** The exercise's run stays in the lab: what was there before is not given back. */
export function keep(): void {
  useBorrowed.setState({ lab: null });
}

/** The run as it can be gone on with, once it stands still; null where it does not hand that out in time. */
function stateOfRun(): Promise<Run | null> {
  const began = performance.now();
  return new Promise((resolve) => {
    const look = () => {
      const latest = latestCheckpoint();
      const { running, update } = useLive.getState();
      const there = !running && latest?.update === update;
      const batch = newestBatch();
      if (there) resolve({ ...latest, batches: batch ? [batch] : [] });
      else if (performance.now() - began > HANDED_OUT_MS) resolve(null);
      else setTimeout(look, LOOK_MS);
    };
    look();
  });
}

/** Resolves once another run is there, or it is known that none will be. */
function isThere(before: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const { run, problem } = useLive.getState();
      if (run === before && !problem) return;
      stop();
      resolve();
    };
    const stop = useLive.subscribe(look);
    look();
  });
}

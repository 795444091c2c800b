import type { PresetName } from '../../config/presets.ts';
import type { RunConfig } from '../../config/fields.ts';
import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { resume } from '../resume/resumeRun.ts';
import { lookForSaved } from '../resume/resumeOffers.ts';
import { convert, nextModel, setModel, start, startFrom, pendingRun } from '../run/engine.ts';
import type { PickedModel } from '../run/pickedModel.ts';
import { useLive } from '../run/liveStore.ts';
import { type Offer, useRuns } from '../runs/runStore.ts';
import { notice } from '../shell/notices.ts';
import { closeModel, useModels } from './modelStore.ts';

/** Begins a run in the lab that trains adapters for this checkpoint: with a preset and some changed knobs, or with the current knobs. */
export function trainOn(given: PickedModel, preset: PresetName | null, changes: Partial<RunConfig> = {}): void {
  give(given);
  if (preset !== null) choosePreset(preset);
  if (Object.keys(changes).length > 0) edit(changes);
  start(true);
}

/** Resumes, paused, a saved run that trains adapters for this checkpoint. */
export function continueAdapterRun(given: PickedModel, { run, slot }: SavedAdapterRun): void {
  give(given);
  void resume(run, slot);
}

function give(given: PickedModel): void {
  if (useModels.getState().opened) closeModel(); // memory may not hold the model twice
  setModel(given);
  if (!location.hash.startsWith('#/lab')) location.assign('#/lab');
}

/** A saved run that can be read. */
export type SavedAdapterRun = Offer & { readonly run: NonNullable<Offer['run']> };

/** The newest saved run that trained adapters for this checkpoint, whatever the checkpoint's file is called now; null if there is none. */
export async function savedAdapterRun(given: PickedModel): Promise<SavedAdapterRun | null> {
  const sha256 = await marked(given);
  if (sha256 === null) return null;
  if (useRuns.getState().offers.length === 0) await lookForSaved();
  const { offers } = useRuns.getState();
  return offers.find((offer): offer is SavedAdapterRun => offer.run?.checkpoint?.base?.sha256 === sha256) ?? null;
}

/**
 * Passes a checkpoint to the run that needs it: the saved run that waits for it, else a saved run with adapters for it, else a fresh run if
 * the knobs ask for a checkpoint. A waiting run refuses any other checkpoint, names the right one, and keeps waiting. Returns false, and
 * changes nothing, if no run needs the checkpoint or another run is in progress.
 */
export async function takeForRun(given: PickedModel): Promise<boolean> {
  const waiting = pendingRun();
  const { applied, wanted } = useConfig.getState();
  const under = nextModel();
  if (useLive.getState().session === 'ready' && applied?.model === 'checkpoint' && under) {
    const [its, other] = await Promise.all([marked(under), marked(given)]);
    if (its === null || its !== other) return false;
    notice(`The run in the lab already trains adapters for ${given.name}.`);
    return true;
  }
  if (waiting) {
    give(given);
    startFrom(waiting.run, waiting);
    return true;
  }
  if (wanted.model !== 'checkpoint') return false;
  const saved = await savedAdapterRun(given);
  if (saved) continueAdapterRun(given, saved);
  else trainOn(given, null);
  return true;
}

/** The mark that identifies a checkpoint; null if its files can't be read. Opening it then shows the reason. */
async function marked(given: PickedModel): Promise<string | null> {
  const answer = await convert({ kind: 'mark', base: given });
  return answer.kind === 'marked' ? answer.mark.sha256 : null;
}

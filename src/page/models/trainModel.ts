import type { PresetName } from '../../config/presets.ts';
import type { RunConfig } from '../../config/fields.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { choosePreset, editKnobs, useConfig } from '../knobs/configStore.ts';
import { resume } from '../training/resumeRun.ts';
import { findSavedRuns } from '../runs/resumeOffers.ts';
import { convert, nextModel, setEnvironment, setModel, start, startFrom, pendingRun } from '../training/engine.ts';
import type { PickedModel } from '../../wire/readerMessages.ts';
import { useLive } from '../view/liveStore.ts';
import { type ResumeOffer, useRuns } from '../runs/runStore.ts';
import { notice } from '../browser/notices.ts';
import { closeModel, useModels } from './modelStore.ts';
import { chosenFiles } from '../browser/filesWithPaths.ts';
import { modelOf } from './openModel.ts';

/** Begins with a preset and some changed knobs, or with the current knobs. */
export function trainOn(pickedModel: PickedModel, preset: PresetName | null, changes: Partial<RunConfig> = {}): void {
  handToLab(pickedModel);
  if (preset !== null) choosePreset(preset);
  if (Object.keys(changes).length > 0) editKnobs(changes);
  start(true);
}

/** Runs the file, or connects to its server, so only a button that says so may call it. */
export function trainOnOwn(pickedModel: PickedModel, file: EnvironmentFile, config: RunConfig): void {
  handToLab(pickedModel);
  setEnvironment({ name: file.name, text: file.text });
  editKnobs(config);
  useConfig.setState({ preset: YOUR_ENVIRONMENT });
  start(true);
}

/** Resumes, paused, a saved run that trains adapters for this checkpoint. */
export function continueAdapterRun(pickedModel: PickedModel, { run, slot }: SavedAdapterRun): void {
  handToLab(pickedModel);
  void resume(run, slot);
}

function handToLab(pickedModel: PickedModel): void {
  if (useModels.getState().opened) closeModel(); // memory may not hold the model twice
  setModel(pickedModel);
  if (!location.hash.startsWith('#/lab')) location.assign('#/lab');
}

export type SavedAdapterRun = ResumeOffer & { readonly run: NonNullable<ResumeOffer['run']> };

/** Finds the newest one, whatever the checkpoint's file is called now; null if there is none. */
export async function savedAdapterRun(pickedModel: PickedModel): Promise<SavedAdapterRun | null> {
  const sha256 = await hashOf(pickedModel);
  if (sha256 === null) return null;
  if (useRuns.getState().offers.length === 0) await findSavedRuns();
  const { offers } = useRuns.getState();
  return offers.find((offer): offer is SavedAdapterRun => offer.run?.checkpoint?.base?.sha256 === sha256) ?? null;
}

/**
 * Passes a checkpoint to the run that needs it: the saved run that waits for it, else a saved run with adapters for it,
 * else a fresh run if the knobs ask for a checkpoint. A waiting run refuses any other checkpoint, names the right one,
 * and keeps waiting. Returns false, and changes nothing, if no run needs the checkpoint or a run with another
 * checkpoint is in progress.
 */
export async function passToRun(pickedModel: PickedModel): Promise<boolean> {
  const waitingRun = pendingRun();
  const { applied, wanted } = useConfig.getState();
  const currentModel = nextModel();
  if (useLive.getState().session === 'ready' && applied?.model === 'checkpoint' && currentModel) {
    const [currentHash, newHash] = await Promise.all([hashOf(currentModel), hashOf(pickedModel)]);
    if (currentHash === null || currentHash !== newHash) return false;
    notice(`The run in the lab already trains adapters for ${pickedModel.name}.`);
    return true;
  }
  if (waitingRun) {
    handToLab(pickedModel);
    startFrom(waitingRun.run, waitingRun);
    return true;
  }
  if (wanted.model !== 'checkpoint') return false;
  const saved = await savedAdapterRun(pickedModel);
  if (saved) continueAdapterRun(pickedModel, saved);
  else trainOn(pickedModel, null);
  return true;
}

/** The hash that identifies a checkpoint; null if its files can't be read. Opening it then shows the reason. */
async function hashOf(pickedModel: PickedModel): Promise<string | null> {
  const answer = await convert({ kind: 'mark', base: pickedModel });
  return answer.kind === 'marked' ? answer.mark.sha256 : null;
}

/** Opens a dialog for the file or folder of the checkpoint that a run waits for. */
export function chooseModel(pickedKind: 'file' | 'folder'): void {
  const input = document.createElement('input');
  input.type = 'file';
  if (pickedKind === 'file') input.accept = '.gguf';
  else input.webkitdirectory = true;
  input.addEventListener('change', () => {
    const model = modelOf(chosenFiles(input.files));
    if (model) void passToRun(model);
  });
  input.click();
}

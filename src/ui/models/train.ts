import type { PresetName } from '../../config/presets.ts';
import type { RunConfig } from '../../config/fields.ts';
import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { giveModel, start } from '../run/engine.ts';
import type { GivenModel } from '../run/givenModel.ts';

/** Begins a run beside this checkpoint in the lab: under a preset with some of its knobs turned, or under the knobs as they are. */
export function trainOn(given: GivenModel, preset: PresetName | null, changes: Partial<RunConfig> = {}): void {
  giveModel(given);
  if (preset !== null) choosePreset(preset);
  if (Object.keys(changes).length > 0) edit(changes);
  if (!location.hash.startsWith('#/lab')) location.assign('#/lab');
  start(true);
}

/** Whether a run with the knobs as the page shows them would learn beside a checkpoint. */
export function wantsModel(): boolean {
  return useConfig.getState().wanted.model === 'checkpoint';
}

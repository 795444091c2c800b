import { DEFAULTS } from '../../config/fields.ts';
import { WRITTEN_PRESET } from '../../config/presets.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { edit } from '../knobs/configStore.ts';
import { giveEnvironment, start } from '../run/engine.ts';

/** Begins a fresh run on an environment that a person wrote, with its defaults, in the lab. The file is run: call it at a press that says so. */
export function trainOnEnvironment(file: EnvironmentFile): void {
  giveEnvironment(file);
  edit({ ...DEFAULTS, ...WRITTEN_PRESET.set });
  start(true);
  location.assign('#/lab');
}

import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { choosePreset } from '../knobs/configStore.ts';
import { setEnvironment, start } from '../run/engine.ts';

/** Begins a fresh run on an environment that a person wrote, with its defaults, in the lab. The file is run: call it at a press that says so. */
export function trainOnEnvironment(file: EnvironmentFile): void {
  setEnvironment(file);
  choosePreset(YOUR_ENVIRONMENT);
  start(true);
  location.assign('#/lab');
}

import { visible } from '../base/visible.ts';
import { BaseNeededError } from '../checkpoints/baseCheckpoint.ts';
import { CheckpointError } from '../runs/checkpoint.ts';
import { FIELDS, isFieldName } from '../config/config.ts';
import { type EnvironmentFile, EnvironmentFileError, placeIn } from '../domain/environmentFile.ts';
import { EnvironmentServerError } from '../domain/serverAddress.ts';
import { ConfigError } from '../config/configProblem.ts';
import { DeviceLostError } from '../gpu/device.ts';
import { BackendError } from '../model/policy.ts';
import type { RunEvent } from '../wire/commands.ts';
import { knobsOf } from './backendKnobs.ts';

/**
 * The event that reports an error to the page: what is wrong, which knobs cause it, and what to do. `fatal` means that
 * the run can't go on. `file` is the environment that a person wrote, or null if the run trains on another one.
 */
export function errorEvent(
  error: unknown,
  fatal: boolean,
  file: EnvironmentFile | null = null,
): Extract<RunEvent, { type: 'error' }> {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BackendError) {
    return { type: 'error', message: error.what, hint: error.remedy, fatal, fields: knobsOf(error) };
  }
  if (error instanceof DeviceLostError) return deviceLost(message, fatal);
  if (error instanceof BaseNeededError) {
    const hint = 'Drop it here or choose it, then press Run training. Nothing of the run is lost.';
    return { type: 'error', message, hint, fatal, fields: ['model'], cause: 'needs-model' };
  }
  if (error instanceof CheckpointError) {
    return {
      ...{ type: 'error', message: `The saved run can’t be resumed. ${error.message}`, fatal },
      ...{
        hint: 'It stays in this browser until you delete it. Start a new run.',
        fields: [],
        cause: 'bad-checkpoint',
      },
    };
  }
  if (error instanceof EnvironmentServerError) {
    const hint = 'See that the server runs, then continue.';
    const at = file ? `${visible(file.name)}: ` : '';
    return { type: 'error', message: `${at}${message}`, hint, fatal, fields: [], cause: 'environment-server' };
  }
  if (error instanceof EnvironmentFileError) {
    const { what, line } = error.first;
    return {
      ...{
        type: 'error',
        message: `${file ? placeIn(file.name, line) : ''}${file ? what : message}`,
        fatal,
        fields: [],
      },
      ...{ hint: 'Fix the file, then continue with it.', cause: 'environment-fault', line },
    };
  }
  if (error instanceof ConfigError) {
    const fields = error.problems.map(({ place }) => place).filter(isFieldName);
    const labels = fields.map((name) => FIELDS[name].label).join(', ');
    return { type: 'error', message, hint: `Change ${labels || 'the knobs named'}.`, fatal, fields };
  }
  const hint = fatal ? 'Start again; if it comes back, try the CPU backend.' : 'The current run is unharmed.';
  return { type: 'error', message: `The engine stopped: ${message}`, hint, fatal, fields: [] };
}

export function deviceLost(reason: string, fatal: boolean): Extract<RunEvent, { type: 'error' }> {
  return {
    ...{ type: 'error', message: `The browser took the GPU away: ${reason}`, cause: 'device-lost', fatal, fields: [] },
    hint: 'Recover from the last finished update if there is one, or start again.',
  };
}

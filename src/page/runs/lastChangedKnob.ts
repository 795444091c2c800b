import { isFieldName, type FieldName } from '../../config/fields.ts';
import { applyChanges } from '../../config/knobChange.ts';
import { isExact } from '../../runs/change.ts';
import { currentRun } from './liveRun.ts';
import { useLive } from '../view/liveStore.ts';

interface ChangedKnob {
  readonly knob: FieldName;
  readonly valueBefore: string | number;
}

/** The knob that was changed last in the run under way, with its value before; null if none was changed. */
export function lastChangedKnob(): ChangedKnob | null {
  const run = currentRun();
  const last = useLive.getState().flags.at(-1);
  if (!run || !last || !isExact(last)) return null;
  const knob = Object.keys(last.set).findLast(isFieldName);
  const configBefore = applyChanges(run.begun, useLive.getState().flags.slice(0, -1).filter(isExact));
  return knob ? { knob, valueBefore: configBefore[knob] } : null;
}

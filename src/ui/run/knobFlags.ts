import { FIELDS, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import type { RunEvent } from '../../wire/events.ts';
import { knobText } from '../parts/numberText.ts';
import { addFlag } from './liveRun.ts';

const before = new Map<FieldName, string | number>(); // values of knobs whose change was sent and does not act yet
interface Turned {
  readonly knob: FieldName;
  readonly was: string | number;
}
let last: Turned | null = null;

/** Notes changes that are sent to a run. `applied` is the configuration until they act. */
export function noteSent(changes: Partial<RunConfig>, applied: RunConfig): void {
  for (const name of Object.keys(changes) as FieldName[]) if (!before.has(name)) before.set(name, applied[name]);
}

/** The knob that was changed last in the run under way, with its value before; null if none was changed. */
export function lastTurned(): Turned | null {
  return last;
}

/** Forgets all noted changes, because their run is gone. */
export function forgetSent(): void {
  before.clear();
  last = null;
}

/** Flags a change where it began to act, with the value it had before: a dragged slider leaves one flag. */
export function flagActing({ update, changes }: Extract<RunEvent, { type: 'configured' }>): void {
  const told: string[] = [];
  for (const [name, value] of Object.entries(changes) as [FieldName, string | number][]) {
    const old = before.get(name);
    before.delete(name);
    const { label }: Field = FIELDS[name];
    if (old === undefined || old === value) continue;
    last = { knob: name, was: old };
    told.push(`${label} ${knobText(old)} → ${knobText(value)}`);
  }
  if (told.length > 0) addFlag({ update, text: told.join(', ') });
}

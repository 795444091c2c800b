import { contradictions } from '../../config/contradictions.ts';
import { FIELDS, type FieldName, type RunConfig } from '../../config/fields.ts';
import type { RunPreset } from '../../config/presets.ts';
import { differences, presetConfig } from './configStore.ts';
import { knobText } from '../../config/knobText.ts';

/** A knob that differs from its preset. */
export interface Change {
  readonly name: FieldName;
  readonly from: string | number; // the preset's
  readonly to: string | number;
  readonly acts: string; // when, in words
}

/** The knobs that differ from a preset, and when each acts in a run that has `applied` (null: none has begun). */
export function presetDifferences(preset: RunPreset, wanted: RunConfig, applied: RunConfig | null): Change[] {
  const given = presetConfig(preset);
  const stuck = applied !== null && contradictions(wanted).length > 0;
  return differences(given, wanted).map((name) => ({
    name,
    from: given[name],
    to: wanted[name],
    acts: whenOf(name, wanted, applied, stuck),
  }));
}

function whenOf(name: FieldName, wanted: RunConfig, applied: RunConfig | null, stuck: boolean): string {
  if (!applied) return 'acts when the run starts';
  if (applied[name] === wanted[name]) return 'in effect';
  const { when } = FIELDS[name];
  const has = knobText(applied[name]);
  if (when === 'restart') return `after a restart; the run has ${has}`;
  if (stuck) return `waiting, because knobs contradict each other; the run has ${has}`;
  return when === 'live' ? 'from the next optimizer step' : 'from the next rollout batch';
}

import { currentName, FIELDS, isFieldName, knobText } from '../../config/fields.ts';
import type { KnobChange } from '../../config/knobChange.ts';
import { addressExcerpt } from './addressText.ts';
import { readKnob } from './knobValue.ts';

const MAX_CHANGES = 400; // changes that are read; an address may have millions
const MAX_UPDATE = 1e6; // also the largest step
const CHANGE_PATTERN = /^(\d+)(?:\.(\d+))?:(\w+):([^:]+)$/;

/** Written as `21:lossMask:off,30.2:entropyCoef:0.01`. In `30.2`, 30 is the update and 2 the optimizer step. */
export function changesText(changes: readonly KnobChange[]): string {
  return changes
    .flatMap(({ update, step, set }) => {
      const at = step === 0 ? `${update}` : `${update}.${step}`;
      return Object.entries(set).map(([name, value]) => `${at}:${name}:${encodeURIComponent(knobText(value))}`);
    })
    .join();
}

/** Returns them in the order in which they act. Leaves out changes that a run can't take, and adds them to `corrections`. */
export function readChanges(text: string, corrections: string[]): readonly KnobChange[] {
  const parts = text.split(',', MAX_CHANGES + 1);
  if (parts.length > MAX_CHANGES)
    corrections.push(`changes: more than ${MAX_CHANGES}; the first ${MAX_CHANGES} are read.`);
  const changes = parts.slice(0, MAX_CHANGES).flatMap((part) => readChange(part, corrections) ?? []);
  return mergeChanges(changes.sort((a, b) => a.update - b.update || a.step - b.step));
}

function readChange(part: string, corrections: string[]): KnobChange | null {
  const [, update = '', step = '0', rawName = '', text = ''] = CHANGE_PATTERN.exec(part) ?? [];
  const name = currentName(rawName);
  const at = { update: Number(update), step: Number(step) };
  if (at.update < 1 || at.update > MAX_UPDATE || at.step > MAX_UPDATE) {
    corrections.push(`changes: ${addressExcerpt(part)} isn’t an update (1 or more), a knob and a value. Ignored.`);
    return null;
  }
  if (isFieldName(name) && FIELDS[name].when === 'restart') {
    corrections.push(`changes: ${name} can’t change in the middle of a run. Ignored.`);
    return null;
  }
  const value = readKnob(name, text, corrections, () => `Ignored at update ${at.update}`);
  return value === null ? null : { ...at, set: { [name]: value } };
}

/** Merges changes that act at the same update and step. */
function mergeChanges(changes: readonly KnobChange[]): readonly KnobChange[] {
  const merged: KnobChange[] = [];
  for (const change of changes) {
    const last = merged.at(-1);
    const isSameTime = last?.update === change.update && last.step === change.step;
    if (last && isSameTime) merged[merged.length - 1] = { ...last, set: { ...last.set, ...change.set } };
    else merged.push(change);
  }
  return merged;
}

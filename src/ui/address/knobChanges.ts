import { currentName, FIELDS, isFieldName } from '../../config/fields.ts';
import type { KnobChange } from '../../config/knobChange.ts';
import { knobText } from '../../config/knobText.ts';
import { visible } from './addressText.ts';
import { readKnob } from './knobValue.ts';

const MOST = 400; // knobs that are read: an address may have millions
const LARGEST = 1e6; // update or step
const PARTS = /^(\d+)(?:\.(\d+))?:(\w+):([^:]+)$/;

/** Changes of knobs as an address says them: `21:lossMask:off,30.2:entropyCoef:0.01`. A number behind the update is the optimizer step. */
export function changesText(changes: readonly KnobChange[]): string {
  return changes
    .flatMap(({ update, step, set }) => {
      const at = step === 0 ? `${update}` : `${update}.${step}`;
      return Object.entries(set).map(([name, value]) => `${at}:${name}:${encodeURIComponent(knobText(value))}`);
    })
    .join();
}

/** Reads them, in the order in which they act. Changes that a run can't take are left out and added to `corrections`. */
export function readChanges(text: string, corrections: string[]): readonly KnobChange[] {
  const parts = text.split(',', MOST + 1);
  if (parts.length > MOST) corrections.push(`changes: more than ${MOST}; the first ${MOST} are read.`);
  const read = parts.slice(0, MOST).flatMap((part) => readChange(part, corrections) ?? []);
  return joined(read.sort((a, b) => a.update - b.update || a.step - b.step));
}

function readChange(part: string, corrections: string[]): KnobChange | null {
  const [, update = '', step = '0', named = '', text = ''] = PARTS.exec(part) ?? [];
  const name = currentName(named);
  const at = { update: Number(update), step: Number(step) };
  if (at.update < 1 || at.update > LARGEST || at.step > LARGEST) {
    corrections.push(`changes: ${visible(part)} isn’t an update (1 or more), a knob and a value. Ignored.`);
    return null;
  }
  if (isFieldName(name) && FIELDS[name].when === 'restart') {
    corrections.push(`changes: ${name} can’t change in the middle of a run. Ignored.`);
    return null;
  }
  const value = readKnob(name, text, corrections, () => `Ignored at update ${at.update}`);
  return value === null ? null : { ...at, set: { [name]: value } };
}

/** Changes that act at once are one. */
function joined(changes: readonly KnobChange[]): readonly KnobChange[] {
  const all: KnobChange[] = [];
  for (const change of changes) {
    const last = all.at(-1);
    const together = last?.update === change.update && last.step === change.step;
    if (last && together) all[all.length - 1] = { ...last, set: { ...last.set, ...change.set } };
    else all.push(change);
  }
  return all;
}

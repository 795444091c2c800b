import { createPortal } from 'react-dom';
import { FIELDS, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import { useLive } from '../run/liveStore.ts';
import { presetLabel } from './presetTitle.ts';
import { edit, presetConfig, useConfig, differences } from './configStore.ts';
import { knobText } from '../../config/knobText.ts';
import '../styles/changed.css';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';
import { contradictions } from '../../config/contradictions.ts';
import type { RunPreset } from '../../config/presets.ts';

/**
 * Lists the knobs that differ from the preset: both values, and when the change takes effect. One or all can be put
 * back; the run stays.
 */
export function ChangedList({ close }: { readonly close: () => void }) {
  const preset = useConfig((s) => s.preset);
  const ownName = useLive((s) => s.ownEnvironment);
  const wanted = useConfig((s) => s.wanted);
  const applied = useConfig((s) => s.applied);
  const changes = presetDifferences(preset, wanted, applied);
  const putBack = (names: readonly FieldName[]) => {
    const presetKnobs = presetConfig(preset);
    edit(Object.fromEntries(names.map((name) => [name, presetKnobs[name]])));
  };
  return createPortal(
    <Dialog title={`Changed from ${presetLabel(preset, ownName)}`} className="help changes" onClose={close}>
      {changes.length === 0 && <p>Nothing differs from the preset now.</p>}
      <ul>
        {changes.map(({ name, from, to, acts }) => {
          const { label, when }: Field = FIELDS[name];
          return (
            <li key={name}>
              <p>
                <b>{label}</b>{' '}
                <span className="mono changes-values">
                  {knobText(from)} → <b>{knobText(to)}</b>
                </span>
              </p>
              <p className="badge" data-when={when}>
                <Icon name={when} /> {acts}
              </p>
              <button
                type="button"
                aria-label={`Put back ${label} to ${knobText(from)}`}
                onClick={() => putBack([name])}
              >
                Put back
              </button>
            </li>
          );
        })}
      </ul>
      {changes.length > 0 && (
        <p className="row">
          <button type="button" onClick={() => putBack(changes.map(({ name }) => name))}>
            Put all back
          </button>
          <span className="faint">{applied && 'The run stays as it is. '}Ctrl Z brings the changes back.</span>
        </p>
      )}
    </Dialog>,
    document.body,
  );
}

/** A knob that differs from its preset. */
export interface Change {
  readonly name: FieldName;
  readonly from: string | number; // the preset's
  readonly to: string | number;
  readonly acts: string; // when the change takes effect, in words
}

/** The knobs that differ from a preset, and when each acts in a run that has `applied` (null: none has begun). */
export function presetDifferences(preset: RunPreset, wanted: RunConfig, applied: RunConfig | null): Change[] {
  const presetKnobs = presetConfig(preset);
  const contradict = applied !== null && contradictions(wanted).length > 0;
  return differences(presetKnobs, wanted).map((name) => ({
    name,
    from: presetKnobs[name],
    to: wanted[name],
    acts: whenOf(name, wanted, applied, contradict),
  }));
}

function whenOf(name: FieldName, wanted: RunConfig, applied: RunConfig | null, contradict: boolean): string {
  if (!applied) return 'acts when the run starts';
  if (applied[name] === wanted[name]) return 'in effect';
  const { when } = FIELDS[name];
  const has = knobText(applied[name]);
  if (when === 'restart') return `after a restart; the run has ${has}`;
  if (contradict) return `waiting, because knobs contradict each other; the run has ${has}`;
  return when === 'live' ? 'from the next optimizer step' : 'from the next rollout batch';
}

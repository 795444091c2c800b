import { createPortal } from 'react-dom';
import { FIELDS, type Field, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { presetLabel } from '../../page/knobs/algorithm.ts';
import { changedFromPreset, editKnobs, presetConfig, useConfig } from '../../page/knobs/configStore.ts';
import { knobValueText } from '../../config/imitationRecipe.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';
import { contradictions } from '../../config/contradictions.ts';
import type { RunPreset } from '../../config/presets.ts';
import './changed.css';

/** Shows both values, and when the change takes effect. One or all can be put back; the run stays. */
export function ChangedList({ close }: { readonly close: () => void }) {
  const preset = useConfig((s) => s.preset);
  const ownName = useLive((s) => s.ownEnvironment);
  const wanted = useConfig((s) => s.wanted);
  const applied = useConfig((s) => s.applied);
  const changes = presetDifferences(preset, wanted, applied);
  const putBack = (names: readonly FieldName[]) => {
    const presetKnobs = presetConfig(preset);
    editKnobs(Object.fromEntries(names.map((name) => [name, presetKnobs[name]])));
  };
  return createPortal(
    <Dialog title={`Changed from ${presetLabel(preset, ownName)}`} className="help changes" onClose={close}>
      {changes.length === 0 && <p>Nothing differs from the preset now.</p>}
      <ul>
        {changes.map(({ name, effectText }) => {
          const { label, when }: Field = FIELDS[name];
          return (
            <li key={name}>
              <p>
                <b>{label}</b>{' '}
                <span className="mono breaks">
                  {knobValueText(name, presetConfig(preset))} → <b>{knobValueText(name, wanted)}</b>
                </span>
              </p>
              <p className="badge" data-when={when}>
                <Icon name={when} /> {effectText}
              </p>
              <button
                type="button"
                aria-label={`Put back ${label} to ${knobValueText(name, presetConfig(preset))}`}
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

export interface PresetDifference {
  readonly name: FieldName;
  readonly effectText: string; // when the change takes effect, in words
}

/** The knobs that differ from a preset, and when each acts in a run that has `applied` (null: none has begun). */
export function presetDifferences(preset: RunPreset, wanted: RunConfig, applied: RunConfig | null): PresetDifference[] {
  const hasContradictions = applied !== null && contradictions(wanted).length > 0;
  return changedFromPreset(preset, wanted).map((name) => ({
    name,
    effectText: whenInEffect(name, wanted, applied, hasContradictions),
  }));
}

function whenInEffect(
  name: FieldName,
  wanted: RunConfig,
  applied: RunConfig | null,
  hasContradictions: boolean,
): string {
  if (!applied) return 'acts when the run starts';
  if (applied[name] === wanted[name]) return 'in effect';
  const { when } = FIELDS[name];
  const runValue = knobText(applied[name]);
  if (when === 'restart') return `after a restart; the run has ${runValue}`;
  if (hasContradictions) return `waiting, because knobs contradict each other; the run has ${runValue}`;
  return when === 'live' ? 'from the next optimizer step' : 'from the next rollout batch';
}

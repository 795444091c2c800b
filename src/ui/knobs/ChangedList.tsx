import { createPortal } from 'react-dom';
import { FIELDS, type Field, type FieldName } from '../../config/fields.ts';
import { useLive } from '../run/liveStore.ts';
import { presetLabel } from './presetTitle.ts';
import { presetDifferences } from './presetDifferences.ts';
import { edit, presetConfig, useConfig } from './configStore.ts';
import { knobText } from '../../config/knobText.ts';
import '../styles/changed.css';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';

/** Every knob that differs from the preset: from what, to what, and when that acts; each can be put back, and all of them. The run stays. */
export function ChangedList({ close }: { readonly close: () => void }) {
  const preset = useConfig((s) => s.preset);
  const own = useLive((s) => s.ownEnvironment);
  const wanted = useConfig((s) => s.wanted);
  const applied = useConfig((s) => s.applied);
  const changes = presetDifferences(preset, wanted, applied);
  const putBack = (names: readonly FieldName[]) => {
    const given = presetConfig(preset);
    edit(Object.fromEntries(names.map((name) => [name, given[name]])));
  };
  return createPortal(
    <Dialog title={`Changed from ${presetLabel(preset, own)}`} className="help changes" onClose={close}>
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

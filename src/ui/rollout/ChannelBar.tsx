import { CHANNEL_NAMES, CHANNELS, type ChannelView } from './channels.ts';
import { KINDS } from './kinds.ts';
import { RampLegend } from './RampLegend.tsx';
import { chooseChannel, useSelection, type ShownPreview } from '../shell/selectionStore.ts';

interface Props {
  readonly view: ChannelView;
  readonly scale: number;
  readonly preview: ShownPreview | null; // what is tried
}

/** Chooses what the fill of the tokens says, with the legend that goes with it. */
export function ChannelBar({ view, scale, preview }: Props) {
  const chosen = useSelection((s) => s.channel);
  const channel = preview?.channel ?? chosen;
  return (
    <>
      <div className="segments channels" role="group" aria-label="Channel">
        {CHANNEL_NAMES.map((name, i) => (
          <button
            key={name}
            type="button"
            aria-pressed={channel === name}
            title={`${CHANNELS[name].doc} (${i + 1})`}
            onClick={() => chooseChannel(name)}
          >
            {CHANNELS[name].label}
          </button>
        ))}
      </div>
      {channel === 'mask' ? (
        <ul className="row small soft legend" aria-label="Legend">
          {preview && <li>{preview.label}:</li>}
          {Object.entries(KINDS).map(([kind, { letter, label }]) => (
            <li key={kind} data-kind={kind}>
              <b>{letter}</b> {label}
            </li>
          ))}
          <li>
            <span className="swatch hatch" /> not in the loss
          </li>
        </ul>
      ) : (
        <RampLegend {...{ channel, view, scale, preview }} />
      )}
    </>
  );
}

import { CHANNEL_NAMES, CHANNELS, type Channel } from './channels.ts';
import { short } from '../parts/format.ts';
import { KINDS } from './kinds.ts';
import { live } from '../run/liveStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import { useSelection } from '../shell/selectionStore.ts';

interface Props {
  readonly scale: number;
  readonly preview: string | null; // what is tried: pushes are shown, whatever was chosen
  readonly clip: Pick<RunConfig, 'clipLow' | 'clipHigh'> | null; // where the ratio is clipped
}

/** Which tokens a channel says nothing of: the hatched ones. */
const NOTHING_SAID = {
  loss: 'not in the loss',
  action: 'not written by the agent',
  response: 'the prompt',
} as const;

/** Chooses what the fill of the tokens says, with the legend that goes with it. */
export function ChannelBar(props: Props) {
  const channel = useChannel(props);
  return (
    <>
      <div className="segments channels" role="group" aria-label="Channel">
        {CHANNEL_NAMES.map((name, i) => (
          <button
            key={name}
            type="button"
            aria-pressed={channel === name}
            title={`${CHANNELS[name].doc} (${i + 1})`}
            onClick={() => useSelection.setState({ channel: name })}
          >
            {CHANNELS[name].label}
          </button>
        ))}
      </div>
      <Legend {...props} />
    </>
  );
}

function useChannel({ preview }: Props): Channel {
  const chosen = useSelection((s) => s.channel);
  return preview ? 'gradient' : chosen;
}

function Legend(props: Props) {
  const { scale, clip, preview } = props;
  const channel = useChannel(props);
  const { ramp, doc, over, where } = CHANNELS[channel];
  if (ramp === 'none') {
    return (
      <ul className="row small soft legend" aria-label="Legend">
        {Object.entries(KINDS).map(([kind, { letter, label }]) => (
          <li key={kind} data-kind={kind}>
            <b>{letter}</b> {label}
          </li>
        ))}
        <li>
          <span className="swatch hatch" /> not in the loss
        </li>
      </ul>
    );
  }
  const top = short(channel === 'ratio' ? Math.exp(scale) : scale);
  const low = channel === 'ratio' ? short(Math.exp(-scale)) : ramp === 'diverging' ? `−${top}` : '0';
  const diverging = ramp === 'diverging';
  return (
    <p className="row small soft legend" aria-label="Legend">
      <span>
        {preview ? <b>{preview}: push on log π</b> : doc}
        {channel === 'ratio' && clip && ` Clip: ${short(1 - clip.clipLow)} … ${short(1 + clip.clipHigh)}.`}
      </span>
      <span className="row end">
        {diverging && '▼ '}
        {low}
        <span className={`ramp ${ramp}`} />
        {diverging && (channel === 'ratio' ? '▲ ' : '▲ +')}
        {top}
        {!preview && (
          <span
            className="faint"
            title={`The 99th percentile over the tokens in the loss of this ${over ?? 'batch'}: what is stronger has the same colour`}
          >
            {scale > 0
              ? `strongest 1 % of this ${over ?? 'batch'}`
              : over && live.batchConfig
                ? 'not measured: its weights are not kept'
                : 'every value is 0'}
          </span>
        )}
        <span className="swatch hatch" /> {NOTHING_SAID[where]}
      </span>
    </p>
  );
}

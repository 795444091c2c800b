import { CHANNEL_NAMES, CHANNELS } from '../channels.ts';
import { short } from '../format.ts';
import { KINDS } from '../kinds.ts';
import { useSelection } from '../selection-store.ts';

/** Chooses what the fill of the tokens says, with the legend that goes with it. */
export function ChannelBar({ scale }: { readonly scale: number }) {
  const channel = useSelection((s) => s.channel);
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
      <Legend scale={scale} />
    </>
  );
}

function Legend({ scale }: { readonly scale: number }) {
  const channel = useSelection((s) => s.channel);
  const { ramp, doc } = CHANNELS[channel];
  if (ramp === 'none') {
    return (
      <ul className="legend" aria-label="Legend">
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
  const top = short(scale);
  return (
    <p className="legend" aria-label="Legend">
      <span>{doc}</span>
      <span className="ramp-legend">
        {ramp === 'diverging' ? `▼ −${top}` : '0'}
        <span className={`ramp ${ramp}`} />
        {ramp === 'diverging' ? `▲ +${top}` : channel === 'logprob' ? `−${top}` : top}
        <span className="faint" title="Full strength is the 99th percentile of this batch">
          {scale > 0 ? 'p99 of batch' : 'all zero'}
        </span>
      </span>
    </p>
  );
}

import { lazy, Suspense } from 'react';
import type { ShownPreview } from '../../page/view/selectionStore.ts';
import { CHANNEL_NAMES, CHANNELS, type Channel, type ChannelView } from '../../page/rollout/channels.ts';
import { DRIFT_TITLE } from '../../page/rollout/channelLooks.ts';
import { KINDS } from '../../page/rollout/kinds.ts';

// tokens begin with the mask, which has no ramp
const RampLegend = lazy(() => import('./RampLegend.tsx').then((m) => ({ default: m.RampLegend })));

interface Props {
  readonly channel: Channel | null; // null: the tokens show something other than a channel
  readonly choose: (channel: Channel) => void;
  readonly hasDigitKeys?: boolean; // digit keys also choose a channel
  readonly view: ChannelView;
  readonly scale: number;
  readonly preview: ShownPreview | null; // the preview of a changed knob; null if there is none
}

export function ChannelBar({ channel, choose, hasDigitKeys = false, ...shown }: Props) {
  const { view, scale, preview } = shown;
  return (
    <>
      <div className="segments channels" role="group" aria-label="Channel">
        {CHANNEL_NAMES.map((name, i) => (
          <button
            key={name}
            type="button"
            aria-pressed={channel === name}
            title={hasDigitKeys ? `${CHANNELS[name].doc} (${(i + 1) % 10})` : CHANNELS[name].doc}
            onClick={() => choose(name)}
          >
            {CHANNELS[name].label}
          </button>
        ))}
      </div>
      {channel === null ? null : channel === 'mask' ? (
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
          {view.batch.observationMask?.includes(1) && (
            <li>
              <span className="swatch dots" /> learned as a prediction
            </li>
          )}
          {view.batch.drifted && (
            <li title={DRIFT_TITLE}>
              <span className="drifted">drifted</span>: encoded again
            </li>
          )}
        </ul>
      ) : (
        <Suspense fallback={<p className="row small soft legend" />}>
          <RampLegend {...{ channel, view, scale, preview }} />
        </Suspense>
      )}
    </>
  );
}

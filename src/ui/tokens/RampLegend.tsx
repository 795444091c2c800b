import { FIELDS } from '../../config/fields.ts';
import { isMeasured } from '../../domain/batch.ts';
import { CHANNELS, type Channel, type ChannelView } from '../../page/rollout/channels.ts';
import type { ShownPreview } from '../../page/view/selectionStore.ts';
import { shortNumber } from '../../page/words/numberText.ts';

interface Props {
  readonly channel: Channel;
  readonly view: ChannelView;
  readonly scale: number;
  readonly preview: ShownPreview | null; // the preview of a changed knob; null if there is none
}

/** Legend text for the hatched tokens, which have no value in a channel. */
const HATCHED_TEXTS = {
  loss: 'not in the loss',
  action: 'not written by the agent',
  response: 'the prompt',
} as const;

/** A preview doesn't retrain the policy, so the other channels' values are unknown. */
const PREVIEW_TEXTS: Readonly<Partial<Record<Channel, string>>> = {
  advantage: 'the advantage as it was → with this change',
  gradient: 'the push on log π as it was → with this change',
  kl: 'log π − log π of the reference',
};

/** Which values the colours of a channel stand for, or why it has none. */
export function RampLegend({ channel, view, scale, preview }: Props) {
  const { ramp, doc, scaleOver, valuedTokens } = CHANNELS[channel];
  const { config } = view;
  const missingReason = whyNotMeasured(view, channel);
  if (missingReason !== null) {
    return (
      <p className="row small soft legend" aria-label="Legend">
        <span>{missingReason}</span>
      </p>
    );
  }
  const maxText = shortNumber(channel === 'ratio' ? Math.exp(scale) : scale);
  const minText = channel === 'ratio' ? shortNumber(Math.exp(-scale)) : ramp === 'diverging' ? `−${maxText}` : '0';
  const isDiverging = ramp === 'diverging';
  return (
    <p className="row small soft legend" aria-label="Legend">
      <span>
        {preview ? <PreviewText {...{ channel, preview }} /> : doc}
        {channel === 'ratio' &&
          config &&
          (config.surrogate === 'clipped' || config.surrogate === 'cispo') &&
          ` Clip: ${shortNumber(1 - config.clipLow)} … ${shortNumber(1 + config.clipHigh)}.`}
      </span>
      <span className="row end">
        {isDiverging && '▼ '}
        {minText}
        <span className={`ramp ${ramp}`} />
        {isDiverging && (channel === 'ratio' ? '▲ ' : '▲ +')}
        {maxText}
        {!preview && (
          <span
            className="faint"
            title={`The 99th percentile over the loss tokens of this ${scaleOver ?? 'batch'}. Anything stronger gets the same colour.`}
          >
            {scale > 0
              ? `strongest 1 % of this ${scaleOver ?? 'batch'}`
              : scaleOver && config
                ? 'not measured: the weights are no longer kept'
                : 'every value is 0'}
          </span>
        )}
        {(channel === 'ratio' || channel === 'gradient') && (
          <span className="one-line">
            <span className="swatch corner" /> clipped
          </span>
        )}
        <span className="swatch hatch" /> {HATCHED_TEXTS[valuedTokens]}
      </span>
    </p>
  );
}

function PreviewText({ channel, preview }: { readonly channel: Channel; readonly preview: ShownPreview }) {
  const { label, ratios } = preview;
  const explanation = PREVIEW_TEXTS[channel];
  if (explanation === undefined) return `${CHANNELS[channel].label}: unchanged. A preview doesn’t retrain the policy.`;
  return <b>{`${label}${channel === 'gradient' ? `, ${ratios}` : ''}: ${explanation}`}</b>;
}

/** Sentence on why a channel has no value for any token of a batch and how to get one; null if it has values. */
export function whyNotMeasured({ batch, config, isFromFile }: ChannelView, channel: Channel): string | null {
  if (isFromFile && CHANNELS[channel].scaleOver === 'rollout')
    return 'Not in this file: it takes the weights before and after the update. The lab shows it.';
  if (channel !== 'kl' && channel !== 'value') return null;
  const tensorName = channel === 'kl' ? 'refLogprobs' : 'values';
  if (config && isMeasured({ batch, config }, tensorName)) return null;
  if (!config || batch.unscored?.includes(tensorName)) return 'Not recorded for this batch.';
  if (channel === 'kl') {
    const { klCoef, klRewardCoef } = FIELDS;
    return `Not computed: ${klCoef.label} and ${klRewardCoef.label} are 0, so nothing is compared with the reference. Set ${klCoef.label} above 0.`;
  }
  return `Not computed: ${config.estimator} uses no critic. Set ${FIELDS.estimator.label} to gae.`;
}

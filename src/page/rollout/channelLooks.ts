import { CHANNELS, type Channel, channelScale, channelValue, type ChannelView, extent, isClipped, isClippedInAnyEpoch, isPredicted } from './channels.ts'; // prettier-ignore
import { KINDS } from './kinds.ts';
import type { Rollout } from './readRollout.ts';
import { type Fill, fillOf, type Look, memoizedLook, valueText } from './tokenLook.ts';

/** How the tokens of a row look in each channel, and the extent that each channel shows at full strength. */
export interface ChannelLooks {
  readonly lookOf: (channel: Channel) => Look; // returns the same function each time for a channel
  // in a preview, the larger of the scales with and without the changed knobs, so that weaker pushes look paler
  readonly scale: (channel: Channel) => number;
}

/** Words are the names of the view's episode. `otherRows`: the batch's other rows, if each row is a batch of its own. */
export function channelLooks(
  rollout: Omit<Rollout, 'row'>,
  view: ChannelView,
  otherRows: readonly ChannelView[] = [],
): ChannelLooks {
  const scale = memoized((channel) =>
    Math.max(
      channelScale(view, channel, otherRows),
      view.unchangedView ? channelScale(view.unchangedView, channel) : 0,
    ),
  );
  return { scale, lookOf: memoized((channel) => makeLook(rollout, view, channel, scale(channel))) };
}

function memoized<T>(make: (channel: Channel) => T): (channel: Channel) => T {
  const cache = new Map<Channel, T>();
  return (channel) => {
    const value = cache.get(channel) ?? make(channel);
    cache.set(channel, value);
    return value;
  };
}

function makeLook(rollout: Omit<Rollout, 'row'>, view: ChannelView, channel: Channel, scale: number): Look {
  const { batch, row } = view;
  return memoizedLook((t) => {
    const i = row * batch.length + t;
    const word = rollout.words[t] ?? '';
    const kind = rollout.kinds[t] ?? 'prompt';
    const trained = batch.lossMask[i] !== 0;
    const predicted = isPredicted(batch, i);
    const clipped = channel === 'ratio' ? isClipped(batch, i) : channel === 'gradient' && isClippedInAnyEpoch(batch, i);
    const drifted = batch.drifted?.[i] === 1;
    const fill = fillAt(view, channel, i, scale);
    // the name begins with the visible text, so that speech control finds the button
    const visible = fill.text === null ? word : `${word} ${fill.text}, ${CHANNELS[channel].label}`;
    const accessibleName = `${visible}, ${KINDS[kind].label}, in loss: ${trained ? 'yes' : predicted ? 'as a prediction' : 'no'}${clipped ? ', clipped' : ''}${drifted ? ', drifted' : ''}`;
    const look = { word, kind, tag: rollout.tags[t] ?? false, trained, predicted, clipped, fill, accessibleName };
    return drifted ? { ...look, drifted, title: DRIFT_TITLE } : look;
  });
}

/** Says why a token drifted. */
export const DRIFT_TITLE =
  'Drifted: other tokens of the same text were drawn here. Then the turn was decoded to text and encoded again.';

function fillAt(view: ChannelView, channel: Channel, i: number, scale: number): Fill {
  const { ramp } = CHANNELS[channel];
  if (ramp === 'none') return { ramp, strength: 0, isNegative: false, absent: false, text: null };
  // a ratio needs no sign: its value shows on which side of 1 it is
  const channelText = (value: number | undefined) => valueText(value, channel === 'ratio' ? 'sequential' : ramp);
  const value = channelValue(view, channel, i);
  const text = channelText(value);
  const unchangedText = view.unchangedView ? channelText(channelValue(view.unchangedView, channel, i)) : text;
  return fillOf(value, ramp, scale, {
    extent: value === undefined ? 0 : extent(channel, value),
    text: unchangedText === text ? text : `${unchangedText} → ${text}`,
  });
}

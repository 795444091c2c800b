import { CHANNELS, type Channel, channelScale, channelValue, type ChannelView, extent, isClipped, isClippedOnce } from './channels.ts'; // prettier-ignore
import { KINDS } from './kinds.ts';
import type { Rollout } from './readRollout.ts';
import { type Fill, fillOf, type Look, onceEach, valueText } from './tokenLook.ts';

/** How the tokens of a row look in each channel, and the extent that each channel draws at full strength. */
export interface ChannelLooks {
  readonly of: (channel: Channel) => Look; // returns the same function each time for a channel
  // in a preview the larger of both scales, so that weaker pushes look paler
  readonly scale: (channel: Channel) => number;
}

/**
 * Looks of a view's rollout, whose words are the names of its episode. `otherRows` are the batch's other rows, if each
 * row is a batch of its own.
 */
export function channelLooks(
  rollout: Omit<Rollout, 'row'>,
  view: ChannelView,
  otherRows: readonly ChannelView[] = [],
): ChannelLooks {
  const scale = memoized((channel) =>
    Math.max(channelScale(view, channel, otherRows), view.was ? channelScale(view.was, channel) : 0),
  );
  return { scale, of: memoized((channel) => lookOf(rollout, view, channel, scale(channel))) };
}

function memoized<T>(make: (channel: Channel) => T): (channel: Channel) => T {
  const known = new Map<Channel, T>();
  return (channel) => {
    const found = known.get(channel) ?? make(channel);
    known.set(channel, found);
    return found;
  };
}

function lookOf(rollout: Omit<Rollout, 'row'>, view: ChannelView, channel: Channel, scale: number): Look {
  const { batch, row } = view;
  return onceEach((t) => {
    const i = row * batch.length + t;
    const word = rollout.words[t] ?? '';
    const kind = rollout.kinds[t] ?? 'prompt';
    const trained = batch.lossMask[i] !== 0;
    const clipped = channel === 'ratio' ? isClipped(batch, i) : channel === 'gradient' && isClippedOnce(batch, i);
    const fill = fillAt(view, channel, i, scale);
    // the name begins with the visible text, so that speech control finds the button
    const visible = fill.value === null ? word : `${word} ${fill.value}, ${CHANNELS[channel].label}`;
    const name = `${visible}, ${KINDS[kind].label}, in loss: ${trained ? 'yes' : 'no'}${clipped ? ', clipped' : ''}`;
    return { word, kind, tag: rollout.tags[t] ?? false, trained, clipped, fill, name };
  });
}

function fillAt(view: ChannelView, channel: Channel, i: number, scale: number): Fill {
  const { ramp } = CHANNELS[channel];
  if (ramp === 'none') return { ramp, share: 0, down: false, absent: false, value: null };
  // a ratio needs no sign: its value shows on which side of 1 it is
  const write = (value: number | undefined) => valueText(value, channel === 'ratio' ? 'sequential' : ramp);
  const value = channelValue(view, channel, i);
  const text = write(value);
  const before = view.was ? write(channelValue(view.was, channel, i)) : text;
  return fillOf(value, ramp, scale, {
    size: value === undefined ? 0 : extent(channel, value),
    text: before === text ? text : `${before} → ${text}`,
  });
}

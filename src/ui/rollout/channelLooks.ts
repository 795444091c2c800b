import { CHANNELS, type Channel, channelScale, channelValue, type ChannelView, extent, isClipped, isClippedOnce } from './channels.ts'; // prettier-ignore
import { KINDS } from './kinds.ts';
import type { Rollout } from './readRollout.ts';
import { type Fill, fillOf, type Look, onceEach, valueText } from './tokenLook.ts';

/** How the tokens of a row look under each channel, and the extent that each draws at full strength. */
export interface ChannelLooks {
  readonly of: (channel: Channel) => Look; // the same function again for the same channel
  readonly scale: (channel: Channel) => number; // of two views the larger, so that what is diluted pales
}

/** Looks of the rollout that a view is of; the words have its names. `beside` are the other rows of its batch, where they are apart. */
export function channelLooks(
  rollout: Omit<Rollout, 'row'>,
  view: ChannelView,
  beside: readonly ChannelView[] = [],
): ChannelLooks {
  const scale = remembered((channel) =>
    Math.max(channelScale(view, channel, beside), view.was ? channelScale(view.was, channel) : 0),
  );
  return { scale, of: remembered((channel) => lookOf(rollout, view, channel, scale(channel))) };
}

function remembered<T>(make: (channel: Channel) => T): (channel: Channel) => T {
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
    // begins with the visible text, so that speech control finds the button
    const seen = fill.value === null ? word : `${word} ${fill.value}, ${CHANNELS[channel].label}`;
    const name = `${seen}, ${KINDS[kind].label}, in loss: ${trained ? 'yes' : 'no'}${clipped ? ', clipped' : ''}`;
    return { word, kind, tag: rollout.tags[t] ?? false, trained, clipped, fill, name };
  });
}

function fillAt(view: ChannelView, channel: Channel, i: number, scale: number): Fill {
  const { ramp } = CHANNELS[channel];
  if (ramp === 'none') return { ramp, share: 0, down: false, absent: false, value: null };
  // a ratio says on its own on which side of 1 it is
  const write = (value: number | undefined) => valueText(value, channel === 'ratio' ? 'sequential' : ramp);
  const value = channelValue(view, channel, i);
  const text = write(value);
  const before = view.was ? write(channelValue(view.was, channel, i)) : text;
  return fillOf(value, ramp, scale, {
    size: value === undefined ? 0 : extent(channel, value),
    text: before === text ? text : `${before} → ${text}`,
  });
}

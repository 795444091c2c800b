import { memo, type CSSProperties } from 'react';
import {
  CHANNELS,
  channelValue,
  type Channel,
  type ChannelView,
  extent,
  isClipped,
  isClippedOnce,
} from './channels.ts';
import { Mark } from '../formula/mark.ts';
import { short, signed } from '../parts/numberText.ts';
import type { Current } from '../run/currentRollout.ts';
import { selectToken } from '../shell/selectionStore.ts';
import { KINDS } from './kinds.ts';

interface Props {
  readonly t: number;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number; // the extent drawn at full strength
  readonly selected: boolean;
  readonly stop: boolean; // where the keyboard enters the row
  readonly lit: number | undefined; // how the lit term of the formula marks it, a `Mark`
}

/** A token of the rollout in view, coloured by the channel. React renders it again only if its props change. */
export const Token = memo(function Token(props: Props) {
  const { t, current, view, channel, scale, selected, stop, lit } = props;
  const { batch, rollout } = current;
  const i = rollout.row * batch.length + t;
  const inLoss = batch.lossMask[i] !== 0;
  const word = rollout.words[t] ?? '';
  const kind = rollout.kinds[t] ?? 'prompt';
  const turn = batch.turns[i] ?? 0;
  const value = channelValue(view, channel, i);
  const size = value === undefined ? 0 : extent(channel, value);
  const { ramp, label } = CHANNELS[channel];
  const share = scale > 0 ? Math.min(1, Math.abs(size) / scale) : 0;
  const clipped = channel === 'ratio' ? isClipped(batch, i) : channel === 'gradient' && isClippedOnce(batch, i);
  const written = (value: number | undefined) =>
    value === undefined ? '–' : ramp === 'diverging' && channel !== 'ratio' ? signed(value) : short(value);
  const text = written(value);
  const before = view.was ? written(channelValue(view.was, channel, i)) : text;
  const change = before === text ? '' : `${before} → `;
  // begins with the visible text, so that speech control finds the button
  const seen = channel === 'mask' ? word : `${word} ${change}${text}, ${label}`;
  const name = `${seen}, ${KINDS[kind].label}, in loss: ${inLoss ? 'yes' : 'no'}${clipped ? ', clipped' : ''}`;
  return (
    <button
      type="button"
      className="token"
      data-token={t}
      data-kind={kind}
      data-tag={rollout.tags[t]}
      data-loss={inLoss}
      data-ramp={ramp === 'none' || value === undefined ? 'none' : ramp}
      data-na={channel !== 'mask' && value === undefined}
      data-clipped={clipped}
      data-lit={lit}
      data-sign={size < 0 ? 'down' : 'up'}
      style={{ '--share': share.toFixed(3) } as CSSProperties}
      tabIndex={stop ? 0 : -1}
      aria-pressed={selected}
      aria-label={name}
      title={
        lit === Mark.rose
          ? '▲ Clipped while it became more likely'
          : lit === Mark.fell
            ? '▼ Clipped while it became less likely'
            : undefined
      }
      onClick={() => selectToken(t, turn)}
    >
      <span className="word">{word}</span>
      {channel !== 'mask' && (
        <>
          {' '}
          <span className="token-value">
            {change}
            {text}
          </span>
        </>
      )}
    </button>
  );
});

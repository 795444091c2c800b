import {
  Fragment,
  memo,
  useDeferredValue,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
} from 'react';
import {
  CHANNELS,
  channelScale,
  channelValue,
  type Channel,
  type ChannelView,
  extent,
  isClipped,
  isClippedOnce,
} from './channels.ts';
import { turnInView, useCurrent, type Current } from '../run/current.ts';
import { paid, short, signed } from '../parts/format.ts';
import { KINDS, STOPS } from './kinds.ts';
import { live } from '../run/liveStore.ts';
import { useMoved } from './moved.ts';
import { type Span, type Turn, turnsUpTo } from './rollout.ts';
import { SpanLabel } from './SpanLabel.tsx';
import { SpanTokens } from './SpanTokens.tsx';
import { selectToken, useSelection } from '../shell/selectionStore.ts';
import { ChannelBar } from './ChannelBar.tsx';

/**
 * The chosen rollout, token by token: who wrote each, whether it is trained, and one number of the reader's choice.
 * Long: what it shows, recorded or tried, is put together in one place.
 */
export function Trajectory() {
  const recorded = useCurrent();
  const held = useSelection((s) => s.ghost);
  const ghost = held?.of === recorded.batch ? held : null;
  const current = useMemo(() => (ghost ? { ...recorded, batch: ghost.batch } : recorded), [ghost, recorded]);
  const picked = useSelection((s) => s.channel);
  // the press is painted before a thousand tokens are drawn by it
  const settled = useDeferredValue(picked);
  const channel = ghost ? ghost.channel : settled; // with its legend, at once
  const chosenTurn = useSelection((s) => s.turn);
  const body = useRef<HTMLDivElement>(null);
  const { batch, rollout } = current;
  const config = live.batchConfig;
  const moved = useMoved(recorded.batch, rollout.row, config, CHANNELS[channel].over === 'rollout');
  const view = useMemo((): ChannelView => {
    const was = { batch: recorded.batch, config, row: rollout.row, moved };
    return ghost ? { ...was, batch: ghost.batch, config: ghost.config, was: { ...was, batch: ghost.was } } : was;
  }, [ghost, recorded, config, rollout, moved]);
  // on the scale of the larger, so that what is diluted pales
  const scale = useMemo(
    () => Math.max(channelScale(view, channel), view.was ? channelScale(view.was, channel) : 0),
    [view, channel],
  );
  const shown = chosenTurn === null ? null : turnInView(current, chosenTurn);

  const revealed = useSelection((s) => s.revealed);
  const shownTurns = useMemo(() => turnsUpTo(rollout.turns, revealed ?? Infinity), [rollout, revealed]);

  const onKey = (event: KeyboardEvent) => {
    const length = revealed ?? rollout.words.length;
    const at = useSelection.getState().token ?? 0;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: length - 1 }[event.key];
    if (event.key === 'Escape') selectToken(null, null);
    if (to === undefined || to < 0 || to >= length) return;
    event.preventDefault();
    selectToken(to, batch.turns[rollout.row * batch.length + to] ?? null);
    const button = body.current?.querySelector(`[data-token="${to}"]`);
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <section className="trajectory panel" aria-label="Rollout" data-testid="trajectory">
      <div className="panel-head">
        <h2>Rollout</h2>
        {live.isExample && <span className="chip example">recording</span>}
        <ChannelBar {...{ view, scale }} preview={ghost} />
      </div>
      <div
        className="turns"
        ref={body}
        role="toolbar"
        aria-label="Tokens; arrow keys move"
        tabIndex={-1}
        onKeyDown={onKey}
      >
        {shownTurns.map((turn) => (
          <TurnCard key={turn.turn} {...{ turn, current, view, channel, scale }} now={turn.turn === shown} />
        ))}
        {revealed !== null && revealed < rollout.words.length && (
          <button type="button" className="quiet" onClick={() => useSelection.setState({ revealed: null })}>
            {revealed} of {rollout.words.length} tokens shown · show all
          </button>
        )}
      </div>
    </section>
  );
}

interface CardProps {
  readonly turn: Turn;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number;
  readonly now: boolean;
}

/** Drawn anew only where something in it has changed. */
const TurnCard = memo(function TurnCard({ turn, current, view, channel, scale, now }: CardProps) {
  const { batch, rollout, episode } = current;
  const from = rollout.row * batch.length;
  const reward = turn.spans.flatMap((s) => s.tokens).reduce((sum, t) => sum + (batch.rewards[from + t] ?? 0), 0);
  const last = turn.turn > 0 && turn.spans.at(-1)?.tokens.at(-1) === rollout.words.length - 1;
  return (
    <article className="turn" data-now={now} aria-label={turn.turn === 0 ? 'Prompt' : `Turn ${turn.turn}`}>
      <div className="turn-title">
        <h3>{turn.turn === 0 ? 'Prompt' : `Turn ${turn.turn}`}</h3>
        {reward !== 0 && (
          <span className="chip reward" title="Reward paid in this turn">
            {paid(reward)}
          </span>
        )}
      </div>
      <div className="turn-spans">
        {turn.spans.map((span, i) => (
          <SpanRow key={i} {...{ span, current, view, channel, scale }} />
        ))}
        {last && episode && <p className="small stop faint">{STOPS[episode.stop]}</p>}
      </div>
    </article>
  );
});

/** Of text that the agent did not write, so many tokens are shown at first. */
const FOLDED = 48;

interface SpanProps {
  readonly span: Span;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number;
}

function SpanRow({ span, current, view, channel, scale }: SpanProps) {
  const { batch, rollout } = current;
  const from = rollout.row * batch.length;
  const trained = span.tokens.some((t) => batch.lossMask[from + t] !== 0);
  const [whole, setWhole] = useState(false);
  const forced = span.kind === 'prompt' || span.kind === 'observation';
  const folds = rollout.writing === 'bytes' && forced && span.tokens.length > FOLDED;
  const shown = folds && !whole ? span.tokens.slice(0, FOLDED) : span.tokens;
  return (
    <div className="span" data-kind={span.kind} data-trained={trained}>
      <SpanLabel of={KINDS[span.kind]} />
      <SpanTokens writing={rollout.writing}>
        {shown.map((t) => (
          <Fragment key={t}>
            <Token t={t} {...{ current, view, channel, scale }} />
            {rollout.writing === 'bytes' && rollout.words[t]?.endsWith('⏎') && <br />}
          </Fragment>
        ))}
        {folds && (
          <button type="button" className="quiet small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? 'Fold' : `… all ${span.tokens.length} tokens`}
          </button>
        )}
        {!trained && span.kind !== 'prompt' && (
          <span className="not-trained">
            {live.isExample && span.kind === 'observation' && 'the environment wrote this, '}not trained
          </span>
        )}
      </SpanTokens>
    </div>
  );
}

interface TokenProps {
  readonly t: number;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number;
}

function Token({ t, current: { batch, rollout }, view, channel, scale }: TokenProps) {
  // a boolean per token: choosing one redraws two
  const selected = useSelection((s) => s.token === t);
  const stop = useSelection((s) => (s.token ?? 0) === t);
  const i = rollout.row * batch.length + t;
  const lit = useSelection((s) => s.lit?.marks[i]);
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
  const turned = before === text ? '' : `${before} → `;
  // begins with what is seen, for those who speak to the page
  const seen = channel === 'mask' ? word : `${word} ${turned}${text}, ${label}`;
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
      onClick={() => selectToken(t, turn)}
    >
      <span className="word">{word}</span>
      {channel !== 'mask' && (
        <>
          {' '}
          <span className="token-value">
            {turned}
            {text}
          </span>
        </>
      )}
    </button>
  );
}

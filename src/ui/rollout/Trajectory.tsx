import { Fragment, memo, useMemo, useRef, type KeyboardEvent, useEffect, useState } from 'react';
import { RewardChip } from '../parts/RewardChip.tsx';
import { CHANNELS, channelScale, type Channel, type ChannelView, type Moved, CHANNEL_NAMES } from './channels.ts';
import { turnInView, useCurrent, type Current } from '../run/currentRollout.ts';
import { paid, short } from '../parts/numberText.ts';
import { KINDS, STOPS } from './kinds.ts';
import { live } from '../run/liveStore.ts';
import { turnsUpTo } from './readRollout.ts';
import { SpanLabel } from './SpanLabel.tsx';
import { SpanTokens } from './SpanTokens.tsx';
import { Token } from './Token.tsx';
import type { Kind } from '../../domain/tokens.ts';
import type { Span, Turn } from '../../domain/tokenSpans.ts';
import { useTurnByTurn } from './turnByTurn.ts';
import { useFold } from './useFold.tsx';
import { selectToken, useSelection, chooseChannel, type ShownPreview } from '../shell/selectionStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { whyNotMeasured } from './missingNumbers.ts';

/** The chosen rollout, token by token: who wrote each, whether it is trained, and one number of the reader's choice. */
export function Trajectory() {
  const recorded = useCurrent();
  const picked = useSelection((s) => s.channel);
  const held = useSelection((s) => s.preview);
  const preview = held?.of === recorded.batch ? held : null;
  const current = useMemo(() => (preview ? { ...recorded, batch: preview.batch } : recorded), [preview, recorded]);
  const chosenTurn = useSelection((s) => s.turn);
  const body = useRef<HTMLDivElement>(null);
  const { batch, rollout } = current;
  const config = live.batchConfig;
  const moved = useTokenChanges(
    recorded.batch,
    rollout.row,
    config,
    CHANNELS[preview?.channel ?? picked].over === 'rollout',
  );
  const view = useMemo((): ChannelView => {
    const was = { batch: recorded.batch, config, row: rollout.row, moved };
    return preview
      ? { ...was, batch: preview.batch, config: preview.config, was: { ...was, batch: preview.was } }
      : was;
  }, [preview, recorded, config, rollout, moved]);
  const scaleOf = useMemo(() => scalesOf(view), [view]);
  const shown = chosenTurn === null ? null : turnInView(current, chosenTurn);

  const revealed = useSelection((s) => s.revealed);
  const shownTurns = useMemo(() => turnsUpTo(rollout.turns, revealed ?? Infinity), [rollout, revealed]);

  const settled = useTurnByTurn(picked, shownTurns.length);
  // during a preview all turns change their channel at once, together with the legend
  const channelOf = (place: number) => preview?.channel ?? settled(place);

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
        <ChannelBar view={view} scale={scaleOf(preview?.channel ?? picked)} preview={preview} />
      </div>
      <div
        className="turns"
        ref={body}
        role="toolbar"
        aria-label="Tokens; arrow keys move"
        aria-busy={!preview && shownTurns.some((_, place) => settled(place) !== picked)}
        tabIndex={-1}
        onKeyDown={onKey}
      >
        {shownTurns.map((turn, place) => (
          <TurnCard
            key={turn.turn}
            {...{ turn, current, view }}
            channel={channelOf(place)}
            scale={scaleOf(channelOf(place))}
            now={turn.turn === shown}
          />
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

/** By channel: the value from which on the colour has full strength. In a preview it is the larger of the values before and after, so that numbers that shrink turn paler. */
function scalesOf(view: ChannelView): (channel: Channel) => number {
  const known = new Map<Channel, number>();
  const scale = (channel: Channel) =>
    Math.max(channelScale(view, channel), view.was ? channelScale(view.was, channel) : 0);
  return (channel) => {
    const found = known.get(channel) ?? scale(channel);
    known.set(channel, found);
    return found;
  };
}

interface CardProps {
  readonly turn: Turn<Kind>;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number;
  readonly now: boolean;
}

/** One turn. React draws it again only if something in it has changed. */
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
          <RewardChip amount={reward} title="Reward paid in this turn">
            {paid(reward)}
          </RewardChip>
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

interface SpanProps {
  readonly span: Span<Kind>;
  readonly current: Current;
  readonly view: ChannelView;
  readonly channel: Channel;
  readonly scale: number;
}

function SpanRow({ span, current, view, channel, scale }: SpanProps) {
  const { batch, rollout } = current;
  const from = rollout.row * batch.length;
  // One subscription for the whole span. With one for each token, every selection would call a thousand of them.
  const [first = 0, last = 0] = [span.tokens[0], span.tokens.at(-1)];
  const within = (t: number) => (t >= first && t <= last ? t : null);
  const selected = useSelection((s) => (s.token === null ? null : within(s.token)));
  const stop = useSelection((s) => within(s.token ?? 0));
  const marks = useSelection((s) => s.lit?.marks);
  const trained = span.tokens.some((t) => batch.lossMask[from + t] !== 0);
  const { shown, fold } = useFold(span, rollout.writing);
  return (
    <div className="span" data-kind={span.kind} data-trained={trained}>
      <SpanLabel of={KINDS[span.kind]} />
      <SpanTokens writing={rollout.writing}>
        {shown.map((t) => (
          <Fragment key={t}>
            <Token
              {...{ t, current, view, channel, scale }}
              selected={t === selected}
              stop={t === stop}
              lit={marks?.[from + t]}
            />
            {rollout.writing === 'bytes' && rollout.words[t]?.endsWith('⏎') && <br />}
          </Fragment>
        ))}
        {fold}
        {!trained && span.kind !== 'prompt' && (
          <span className="not-trained">
            {live.isExample && span.kind === 'observation' && (
              <span className="who-wrote">the environment wrote this, </span>
            )}
            not trained
          </span>
        )}
      </SpanTokens>
    </div>
  );
}

/** How an update changed the log-probabilities of a row's tokens. Asks the run while `wanted`. Null until the answer is there, and if the run no longer keeps the weights. */
function useTokenChanges(batch: BatchView, row: number, config: RunConfig | null, wanted: boolean): Moved | null {
  const [got, setGot] = useState<{ readonly batch: BatchView; readonly row: number; readonly moved: Moved | null }>();
  useEffect(() => {
    if (!wanted || !config) return;
    let gone = false;
    void import('../run/inspect.ts')
      .then((m) => m.movedTokens({ batch, row, config }))
      .then((moved) => {
        if (!gone) setGot({ batch, row, moved });
      });
    return () => {
      gone = true;
    };
  }, [batch, row, config, wanted]);
  return got?.batch === batch && got.row === row ? got.moved : null;
}

interface Props {
  readonly view: ChannelView;
  readonly scale: number;
  readonly preview: ShownPreview | null; // the preview of a changed knob; null if there is none
}

/** Chooses the channel that the colour of the tokens shows, and explains it in a legend. */
function ChannelBar({ view, scale, preview }: Props) {
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

interface RampLegendProps {
  readonly channel: Channel;
  readonly view: ChannelView;
  readonly scale: number;
  readonly preview: ShownPreview | null; // the preview of a changed knob; null if there is none
}

/** Names the tokens for which a channel has no number; they are hatched. */
const NOTHING_SAID = {
  loss: 'not in the loss',
  action: 'not written by the agent',
  response: 'the prompt',
} as const;

/** Texts for the channels that a preview can compute. The others are missing here: a preview doesn't retrain the policy, so their numbers are unknown. */
const TRIED: Readonly<Partial<Record<Channel, string>>> = {
  advantage: 'advantage, was → would be',
  gradient: 'push on log π, was → would be',
  kl: 'log π − log π of the reference',
};

/** Explains the numbers of a channel and the strength of its colour; if the channel has no numbers, says why. */
function RampLegend({ channel, view, scale, preview }: RampLegendProps) {
  const { ramp, doc, over, where } = CHANNELS[channel];
  const { config } = view;
  const missing = whyNotMeasured(view, channel);
  if (missing !== null) {
    return (
      <p className="row small soft legend" aria-label="Legend">
        <span>{missing}</span>
      </p>
    );
  }
  const top = short(channel === 'ratio' ? Math.exp(scale) : scale);
  const low = channel === 'ratio' ? short(Math.exp(-scale)) : ramp === 'diverging' ? `−${top}` : '0';
  const diverging = ramp === 'diverging';
  return (
    <p className="row small soft legend" aria-label="Legend">
      <span>
        {preview ? <Tried {...{ channel, preview }} /> : doc}
        {channel === 'ratio' && config && ` Clip: ${short(1 - config.clipLow)} … ${short(1 + config.clipHigh)}.`}
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
            title={`The 99th percentile over the loss tokens of this ${over ?? 'batch'}. Anything stronger gets the same colour.`}
          >
            {scale > 0
              ? `strongest 1 % of this ${over ?? 'batch'}`
              : over && config
                ? 'not measured: the weights are no longer kept'
                : 'every value is 0'}
          </span>
        )}
        {(channel === 'ratio' || channel === 'gradient') && (
          <span className="one-line">
            <span className="swatch corner" /> clipped
          </span>
        )}
        <span className="swatch hatch" /> {NOTHING_SAID[where]}
      </span>
    </p>
  );
}

function Tried({ channel, preview }: { readonly channel: Channel; readonly preview: ShownPreview }) {
  const { label, passes } = preview;
  const said = TRIED[channel];
  if (said === undefined) return `${CHANNELS[channel].label}: unchanged. A preview doesn’t retrain the policy.`;
  return <b>{`${label}${channel === 'gradient' ? `, ${passes}` : ''}: ${said}`}</b>;
}

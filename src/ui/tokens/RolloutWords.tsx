import { SPAN_KINDS } from '../../page/rollout/kinds.ts';
import { wholeNumber } from '../../page/words/numberText.ts';
import type { Span } from '../../domain/tokenSpans.ts';
import { type ReadText, type Rollout, textOf } from '../../page/rollout/readRollout.ts';

/** The spans of a turn with their tokens from position `start` up to `end`. Empty spans are left out. */
export function spansFrom(rollout: ReadText, turn: number, start: number, end = Infinity): readonly Span[] {
  return (rollout.turns.find((each) => each.turn === turn)?.spans ?? [])
    .map(({ kind, tokens }) => ({ kind, tokens: tokens.filter((t) => t >= start && t < end) }))
    .filter(({ tokens }) => tokens.length > 0);
}

interface TurnWordsProps {
  readonly rollout: ReadText;
  readonly spans: readonly Span[];
  readonly divergence: number; // the first token that other rollouts don't share; it gets a box
}

/** The words of a part of a turn. Tags are left out: a letter says what each span is. */
export function TurnWords({ rollout, spans, divergence }: TurnWordsProps) {
  return spans.map((span, i) => (
    <span key={i} className="cell-span flex wrap on-baseline" data-kind={span.kind} data-writing={rollout.writing}>
      <b
        className="tag"
        aria-hidden="true"
        data-diverges={rollout.tags[divergence] === true && span.tokens.includes(divergence)}
      >
        {SPAN_KINDS[span.kind].letter}
      </b>
      <span className="visually-hidden">{SPAN_KINDS[span.kind].label}</span>
      {span.tokens
        .filter((t) => !rollout.tags[t])
        .map((t) => (
          <span key={t} className="word" translate="no" data-diverges={t === divergence}>
            {rollout.words[t]}
          </span>
        ))}
    </span>
  ));
}

/** Number of shared tokens shown of a text. Its prompt is long and the same for all rollouts. */
const MAX_SHARED_TOKENS = 60;

/** The tokens that all rollouts begin with. Of a long text only the last ones. */
export function SharedBeginning({ rollout, shared }: { readonly rollout: Rollout; readonly shared: number }) {
  const { words, kinds, writing } = rollout;
  if (writing === 'bytes') {
    const tokens = Array.from(
      { length: Math.min(shared, MAX_SHARED_TOKENS) },
      (_, i) => Math.max(0, shared - MAX_SHARED_TOKENS) + i,
    );
    return (
      <span className="mono">
        {shared > MAX_SHARED_TOKENS && `${wholeNumber(shared - MAX_SHARED_TOKENS)} tokens … `}
        {textOf(rollout, tokens)}
      </span>
    );
  }
  return words.slice(0, shared).map((word, t) => (
    <span key={t} className="word" translate="no" data-kind={kinds[t]}>
      {word}
    </span>
  ));
}

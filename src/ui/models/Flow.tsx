import { type CSSProperties, type KeyboardEvent, memo, type MouseEvent, useCallback, useState } from 'react';
import type { SpokenToken } from '../../wire/speakerMessages.ts';
import { count } from '../parts/numberText.ts';
import { KINDS } from '../rollout/kinds.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import type { Block as TextBlock, Passage as TextPassage } from '../../domain/textSpans.ts';

type Block = TextBlock<SpokenToken>;
type Passage = TextPassage<SpokenToken>;

/** What the colour of tokens says. */
export type FlowChannel = 'none' | 'surprise';

/** Surprise at full strength, in nats: what has a probability of one in four hundred. */
const STRONG = 6;
/** Forced passages longer than this are folded. */
const FOLDED = 48;

interface Props {
  readonly passages: readonly Passage[];
  readonly looked: number | null;
  readonly channel: FlowChannel;
  readonly select: (at: number | null) => void;
}

/** Text as it flows, passage after passage in the colour of who wrote it; each token of the model's own can be looked at. */
export function Flow({ passages, looked, channel, select }: Props) {
  const onClick = useCallback(
    ({ target }: MouseEvent) => {
      const at = target instanceof Element ? target.closest<HTMLElement>('[data-at]')?.dataset['at'] : undefined;
      if (at !== undefined) select(Number(at));
    },
    [select],
  );
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const own = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-at]')];
    const here = own.findIndex((each) => each.dataset['at'] === String(looked));
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: own.length - 1 }[event.key];
    if (event.key === 'Escape') select(null);
    const next = to === undefined ? undefined : own[to];
    if (!next) return;
    event.preventDefault();
    select(Number(next.dataset['at']));
    next.focus();
  };
  const first = passages.find(({ kind }) => kind !== 'prompt' && kind !== 'observation')?.from ?? null;
  return (
    <div
      className="flow"
      role="toolbar"
      aria-label="Text; arrow keys move from token to token"
      tabIndex={-1}
      onClick={onClick}
      onKeyDown={onKey}
    >
      {passages.map((passage) => (
        <PassageRow
          key={passage.from}
          {...{ passage, channel }}
          looked={inside(passage, looked)}
          stop={inside(passage, looked ?? first)}
        />
      ))}
    </div>
  );
}

interface RowProps extends Pick<Props, 'looked' | 'channel'> {
  readonly passage: Passage;
  readonly stop: number | null; // the token that Tab reaches
}

const PassageRow = memo(function PassageRow({ passage, looked, channel, stop }: RowProps) {
  const { kind, blocks, count: tokens } = passage;
  const { label } = KINDS[kind];
  const forced = kind === 'prompt' || kind === 'observation';
  const [whole, setWhole] = useState(false);
  const folds = forced && tokens > FOLDED;
  const shown = folds && !whole ? firstTokens(blocks, FOLDED) : blocks;
  return (
    <section className="passage" data-kind={kind} aria-label={label}>
      <SpanLabel of={KINDS[kind]} />
      <div className="passage-text">
        {shown.map((block) => (
          <BlockText
            key={block.from}
            {...{ block, channel }}
            looked={within(block, looked)}
            stop={within(block, stop)}
          />
        ))}
        {folds && (
          <button type="button" className="quiet small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? 'Fold' : `… all ${count(tokens)} tokens`}
          </button>
        )}
      </div>
    </section>
  );
});

/** A place, where it lies in a passage: only that one is drawn again. */
const inside = ({ from, count: tokens }: Passage, at: number | null) =>
  at !== null && at >= from && at < from + tokens ? at : null;

const within = ({ from, tokens }: Block, at: number | null) =>
  at !== null && at >= from && at < from + tokens.length ? at : null;

function firstTokens(blocks: readonly Block[], most: number): readonly Block[] {
  let left = most;
  const first: Block[] = [];
  for (const block of blocks) {
    if (left <= 0) break;
    first.push({ from: block.from, tokens: block.tokens.slice(0, left) });
    left -= block.tokens.length;
  }
  return first;
}

interface BlockProps {
  readonly block: Block;
  readonly channel: FlowChannel;
  readonly looked: number | null; // within it
  readonly stop: number | null;
}

/** A block is drawn when it comes into view, and again only where something in it has changed. */
const BlockText = memo(function BlockText({ block: { from, tokens }, channel, looked, stop }: BlockProps) {
  return (
    <div className="flow-block">
      {tokens.map((token, i) => (
        <Token key={i} at={from + i} {...{ token, channel }} looked={looked === from + i} stop={stop === from + i} />
      ))}
    </div>
  );
});

interface TokenProps {
  readonly token: SpokenToken;
  readonly at: number;
  readonly channel: FlowChannel;
  readonly looked: boolean;
  readonly stop: boolean;
}

function Token({ token: { text, shown, special, likely, logprob }, at, channel, looked, stop }: TokenProps) {
  const seen = text === '' ? '·' : text; // a part of a letter that is completed later
  if (!likely) {
    return special ? <span className="flow-special">{text}</span> : seen;
  }
  const surprise = Math.min(1, -(logprob ?? -STRONG) / STRONG);
  return (
    <span
      role="button"
      className={special ? 'flow-token flow-special' : 'flow-token'}
      data-at={at}
      data-ramp={channel === 'none' ? 'none' : 'sequential'}
      style={channel === 'none' ? undefined : ({ '--share': surprise.toFixed(2) } as CSSProperties)}
      aria-pressed={looked}
      aria-label={shown}
      tabIndex={stop ? 0 : -1}
    >
      {seen}
    </span>
  );
}

import {
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useMemo,
  useRef,
  useState,
} from 'react';
import { TokenMark } from '../../page/rollout/mark.ts';
import { count } from '../../page/words/numberText.ts';
import { SPAN_KINDS } from '../../page/rollout/kinds.ts';
import { SpanLabel } from '../parts/SpanLabel.tsx';
import type { Look, TokenLayout, ShownSpan, ShownTurn, TokenLook } from '../../page/rollout/tokenLook.ts';
import { useTurnByTurn } from '../../page/view/turnByTurn.ts';

/** What is shown around the tokens. Pass the same object in every render: a new object re-renders every turn. */
export interface TokenAnnotations {
  readonly showAll?: boolean; // long prompts and observations aren't folded
  readonly heading?: 'h3' | 'h4'; // level of a turn's title; undefined: no titles
  readonly chip?: (turn: ShownTurn) => ReactNode; // beside a turn's title
  readonly below?: (turn: ShownTurn) => ReactNode;
  readonly note?: (span: ShownSpan) => ReactNode; // after a span's tokens
  readonly renderText?: (text: string, tokens: number) => ReactNode; // shows a span that has a text but no tokens
  // splits a span of any length into parts and calls `renderPart` for each part
  readonly renderParts?: (tokens: readonly number[], renderPart: (part: readonly number[]) => ReactNode) => ReactNode;
}

interface Props<Channel> {
  readonly turns: readonly ShownTurn[];
  readonly layout: TokenLayout;
  readonly channel: Channel;
  // must return the same function for a channel each time, or all tokens re-render
  readonly looks: (channel: Channel) => Look;
  readonly atOnce?: boolean; // all turns show a new channel at once, instead of one more turn per paint
  readonly annotations?: TokenAnnotations;
  readonly currentTurn?: number | null; // the turn to mark
  readonly markOf?: ((t: number) => number | undefined) | undefined; // the `TokenMark` of a token, if it has one
  readonly label?: string; // accessible name of the toolbar of tokens
  readonly selected?: number | null;
  readonly select?: (t: number | null) => void; // called with a pressed token, or with null to clear the selection
  readonly className?: string;
  readonly children?: ReactNode; // after the last turn
}

/**
 * Shows a rollout token by token: turns consist of spans, whose colour shows who wrote them, and spans consist of
 * tokens, whose fill shows the channel. The lab, Talk, Play, opened files and chats all use this component. With
 * `select`, all tokens together are one tab stop, and the arrow keys move between them.
 */
export function TokenView<Channel>(props: Props<Channel>) {
  const { turns, layout, channel, looks, atOnce = false, annotations = NO_ANNOTATIONS, markOf } = props;
  const { currentTurn = null, label, selected = null, select, className = 'turns', children } = props;
  const body = useRef<HTMLDivElement>(null);
  const channelOfTurn = useTurnByTurn(channel, turns.length);
  const lookOfTurn = (turnIndex: number) => looks(atOnce ? channel : channelOfTurn(turnIndex));
  // Tab focuses the selected token, or the first selectable one
  const tabStop = useMemo(() => {
    if (!select) return null;
    const look = looks(channel);
    return selected ?? firstToken(turns, (t) => look(t).accessibleName !== undefined);
  }, [select, looks, channel, turns, selected]);
  const turnCard = (turn: ShownTurn, key: number, look: Look) => (
    <TurnCard
      key={key}
      {...{ turn, layout, look, annotations, markOf, select }}
      selected={positionWithin(turn, selected)}
      tabStop={positionWithin(turn, tabStop)}
      isCurrent={turn.turn === currentTurn}
    />
  );
  const turnCards = turns.map((turn, place) => turnCard(turn, place, lookOfTurn(place)));
  if (!select) {
    return (
      <div className={className}>
        {turnCards}
        {children}
      </div>
    );
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') select(null);
    const elements = [...(body.current?.querySelectorAll<HTMLElement>('[data-token]') ?? [])];
    const position = selected ?? positionOf(elements[0]);
    const target = {
      ArrowRight: elements.find((each) => positionOf(each) > position),
      ArrowLeft: elements.findLast((each) => positionOf(each) < position),
      Home: elements[0],
      End: elements.at(-1),
    }[event.key];
    if (!target) return;
    event.preventDefault();
    select(positionOf(target));
    target.focus();
  };
  return (
    <div
      className={className}
      ref={body}
      role="toolbar"
      aria-label={label}
      aria-busy={!atOnce && turns.some((_, place) => channelOfTurn(place) !== channel)}
      tabIndex={-1}
      onKeyDown={onKey}
    >
      {turnCards}
      {children}
    </div>
  );
}

function firstToken(turns: readonly ShownTurn[], matches: (t: number) => boolean): number | null {
  for (const { spans } of turns)
    for (const { tokens } of spans) {
      const found = tokens.find(matches);
      if (found !== undefined) return found;
    }
  return null;
}

const NO_ANNOTATIONS: TokenAnnotations = {};
const positionOf = (element: HTMLElement | undefined) => Number(element?.dataset['token'] ?? 0);

/**
 * `t` if it lies in these spans, else null. Because of the null, a new selection changes the props of the spans that
 * hold the old or the new token, and React re-renders only those spans.
 */
function positionWithin({ spans }: Pick<ShownTurn, 'spans'>, t: number | null): number | null {
  const [first = Infinity, last = -1] = [spans[0]?.tokens[0], spans.at(-1)?.tokens.at(-1)];
  return t !== null && t >= first && t <= last ? t : null;
}

interface TurnCardProps {
  readonly turn: ShownTurn;
  readonly layout: TokenLayout;
  readonly look: Look;
  readonly annotations: TokenAnnotations;
  readonly markOf: Props<never>['markOf'];
  readonly selected: number | null;
  readonly tabStop: number | null; // the tab stop: the token that Tab focuses
  readonly select: Props<never>['select'];
  readonly isCurrent: boolean;
}

/** One turn. React re-renders it only if its props change. */
const TurnCard = memo(function TurnCard({ turn, isCurrent, annotations, selected, tabStop, ...shown }: TurnCardProps) {
  const title = turn.turn === 0 ? 'Prompt' : `Turn ${turn.turn}`;
  const { heading: Heading } = annotations;
  const spans = turn.spans.map((span, i) => (
    <SpanRow
      key={i}
      {...{ span, annotations, ...shown }}
      selected={positionWithin({ spans: [span] }, selected)}
      tabStop={positionWithin({ spans: [span] }, tabStop)}
    />
  ));
  if (!Heading) return spans;
  return (
    <article className="turn" data-now={isCurrent} aria-label={title}>
      <div className="turn-title">
        {!turn.continued && <Heading>{title}</Heading>}
        {annotations.chip?.(turn)}
      </div>
      <div className="turn-spans">
        {spans}
        {annotations.below?.(turn)}
      </div>
    </article>
  );
});

interface SpanRowProps extends Omit<TurnCardProps, 'turn' | 'isCurrent'> {
  readonly span: ShownSpan;
}

/** Tokens shown of a folded span; only spans that the agent did not write are folded. */
const FOLDED_TOKENS = 48;

const SpanRow = memo(function SpanRow({ span, annotations, layout, ...shown }: SpanRowProps) {
  const [isUnfolded, setWhole] = useState(annotations.showAll === true);
  const { kind, tokens, text } = span;
  const isInput = kind === 'prompt' || kind === 'observation' || kind === 'system';
  const limit = isInput && layout !== 'words' ? FOLDED_TOKENS : Infinity;
  const isFoldable = annotations.showAll !== true && tokens.length > limit;
  return (
    <div
      className="span flex gap-3 on-baseline"
      data-kind={kind}
      // a chat has no turn titles, so its spans are named
      {...(layout === 'text' && { role: 'group', 'aria-label': SPAN_KINDS[kind].label })}
    >
      <SpanLabel kindStyle={SPAN_KINDS[kind]} />
      {text === undefined ? (
        <span className="span-tokens flex wrap gap-1" data-writing={layout} translate="no">
          {layout === 'text' || !annotations.renderParts ? (
            <Lines
              lines={firstTokens(span.lines ?? [tokens], isUnfolded ? Infinity : limit)}
              {...{ layout, ...shown }}
            />
          ) : (
            annotations.renderParts(isFoldable && !isUnfolded ? tokens.slice(0, limit) : tokens, (part) => (
              <Tokens tokens={part} {...{ layout, ...shown }} />
            ))
          )}
          {isFoldable && (
            <button
              type="button"
              className="quiet small"
              translate="yes"
              aria-expanded={isUnfolded}
              onClick={() => setWhole(!isUnfolded)}
            >
              {isUnfolded ? 'Fold' : `… all ${count(tokens.length)} tokens`}
            </button>
          )}
          {annotations.note?.(span)}
        </span>
      ) : (
        annotations.renderText?.(text, tokens.length)
      )}
    </div>
  );
});

function firstTokens(lines: readonly (readonly number[])[], limit: number): readonly (readonly number[])[] {
  if (limit === Infinity) return lines;
  const shownLines: (readonly number[])[] = [];
  let remaining = limit;
  for (const line of lines) {
    if (remaining <= 0) break;
    shownLines.push(line.length <= remaining ? line : line.slice(0, remaining));
    remaining -= line.length;
  }
  return shownLines;
}

interface TokensProps extends Omit<SpanRowProps, 'span' | 'annotations'> {
  readonly tokens: readonly number[];
}

/** Tokens in lines in the layout `text`, otherwise one after the other. */
function Lines({ lines, ...shown }: Omit<TokensProps, 'tokens'> & { readonly lines: readonly (readonly number[])[] }) {
  if (shown.layout === 'text') {
    return lines.map((tokens, i) => (
      <Line
        key={i}
        {...shown}
        tokens={tokens}
        selected={positionWithin({ spans: [{ kind: 'answer', tokens }] }, shown.selected)}
        tabStop={positionWithin({ spans: [{ kind: 'answer', tokens }] }, shown.tabStop)}
      />
    ));
  }
  return <Tokens {...shown} tokens={lines.flat()} />;
}

/** A line of a chat's text. CSS skips painting it while it is out of view; React re-renders it only if its props change. */
const Line = memo(function Line(props: TokensProps) {
  return (
    <span className="text-line">
      <Tokens {...props} />
    </span>
  );
});

function Tokens({ tokens, layout, look, markOf, selected, tabStop, select }: TokensProps) {
  return tokens.map((t) => (
    <Fragment key={t}>
      <Token
        {...{ t, layout, select }}
        look={look(t)}
        selected={t === selected}
        isTabStop={t === tabStop}
        mark={markOf?.(t)}
      />
      {layout === 'bytes' && look(t).word.endsWith('⏎') && <br />}
    </Fragment>
  ));
}

interface TokenProps {
  readonly t: number;
  readonly layout: TokenLayout;
  readonly look: TokenLook;
  readonly selected?: boolean;
  readonly isTabStop?: boolean; // the token that Tab focuses
  readonly mark?: number | undefined; // the `TokenMark` that the formula's highlighted term gives the token
  readonly select?: Props<never>['select'];
}

/** A token, coloured by its channel. React re-renders it only if its props change. */
export const Token = memo(function Token({
  t,
  layout,
  look,
  selected = false,
  isTabStop = false,
  mark,
  select,
}: TokenProps) {
  const { word, kind, tag, trained, predicted, clipped, drifted, chosen, fill, title, accessibleName } = look;
  const shown = {
    className: 'token',
    ...{
      'data-kind': kind,
      'data-tag': tag,
      'data-loss': predicted ? 'predicted' : trained,
      'data-chosen': chosen,
      'data-clipped': clipped,
      'data-drifted': drifted,
    },
    ...(fill && { 'data-ramp': fill.ramp, 'data-na': fill.absent, 'data-sign': fill.isNegative ? 'down' : 'up' }),
    ...(fill && { style: { '--share': fill.strength.toFixed(3) } as CSSProperties }),
    ...{ 'data-lit': mark, title: title ?? LIT_TITLES[mark ?? TokenMark.none] },
  };
  const content = (
    <>
      <span className="word">{word}</span>
      {fill && fill.text !== null && (
        <>
          {' '}
          <span className="token-value">{fill.text}</span>
        </>
      )}
    </>
  );
  if (accessibleName === undefined || !select) {
    // in a chat, a token that can't be pressed is plain text: a long chat has thousands of tokens
    return layout === 'text' ? (
      tag ? (
        <span className="template">{word}</span>
      ) : (
        word
      )
    ) : (
      <span {...shown}>{content}</span>
    );
  }
  const pressed = {
    ...{
      ...shown,
      'data-token': t,
      tabIndex: isTabStop ? 0 : -1,
      'aria-pressed': selected,
      'aria-label': accessibleName,
    },
    onClick: () => select(t),
  };
  // a span, because a line of text can't break inside a button
  return layout === 'text' ? (
    <span role="button" {...pressed}>
      {word}
    </span>
  ) : (
    <button type="button" {...pressed}>
      {content}
    </button>
  );
});

const LIT_TITLES: Readonly<Record<number, string>> = {
  [TokenMark.clippedHigh]: '▲ Clipped while it became more likely',
  [TokenMark.clippedLow]: '▼ Clipped while it became less likely',
};

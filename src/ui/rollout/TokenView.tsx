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
import { Mark } from '../formula/mark.ts';
import { count } from '../parts/numberText.ts';
import { SPAN_KINDS } from './kinds.ts';
import { SpanLabel } from './SpanLabel.tsx';
import type { Look, Setting, ShownSpan, ShownTurn, TokenLook } from './tokenLook.ts';
import { useTurnByTurn } from './turnByTurn.ts';

/** What is shown around the tokens. Pass the same object in every render: a new one redraws every turn. */
export interface TokenAnnotations {
  readonly whole?: boolean; // show all tokens: long prompts and observations aren't folded
  readonly heading?: 'h3' | 'h4'; // level of a turn's title; undefined: no titles
  readonly chip?: (turn: ShownTurn) => ReactNode; // beside a turn's title
  readonly below?: (turn: ShownTurn) => ReactNode;
  readonly note?: (span: ShownSpan) => ReactNode; // after a span's tokens
  readonly text?: (text: string, tokens: number) => ReactNode; // draws a span that has a text but no tokens
  // splits a span of any length into parts and calls `draw` for each
  readonly parts?: (tokens: readonly number[], draw: (part: readonly number[]) => ReactNode) => ReactNode;
}

interface Props<Channel> {
  readonly turns: readonly ShownTurn[];
  readonly setting: Setting;
  readonly channel: Channel;
  // must return the same function for a channel each time, or all tokens redraw
  readonly looks: (channel: Channel) => Look;
  readonly atOnce?: boolean; // a new channel is applied to all turns at once, not to one turn per paint
  readonly around?: TokenAnnotations;
  readonly now?: number | null; // the turn to mark
  readonly lit?: ((t: number) => number | undefined) | undefined; // the `Mark` of a token, if it has one
  readonly label?: string; // accessible name of the toolbar of tokens
  readonly selected?: number | null;
  readonly select?: (t: number | null) => void; // called when a token is pressed, or with null to clear the selection
  readonly className?: string;
  readonly children?: ReactNode; // after the last turn
}

/**
 * Shows a rollout token by token: turns consist of spans, whose colour shows who wrote them, and spans consist of
 * tokens, whose fill shows the channel. The lab, Talk, Play, opened files and chats all use this component. With
 * `select` it is one tab stop, and the arrow keys move between tokens.
 */
export function TokenView<Channel>(props: Props<Channel>) {
  const { turns, setting, channel, looks, atOnce = false, around = NO_ANNOTATIONS, lit } = props;
  const { now = null, label, selected = null, select, className = 'turns', children } = props;
  const body = useRef<HTMLDivElement>(null);
  const settled = useTurnByTurn(channel, turns.length);
  const lookAt = (place: number) => looks(atOnce ? channel : settled(place));
  // Tab focuses the selected token, or the first selectable one
  const stop = useMemo(() => {
    if (!select) return null;
    const look = looks(channel);
    return selected ?? firstToken(turns, (t) => look(t).name !== undefined);
  }, [select, looks, channel, turns, selected]);
  const card = (turn: ShownTurn, key: number, look: Look) => (
    <TurnCard
      key={key}
      {...{ turn, setting, look, around, lit, select }}
      selected={within(turn, selected)}
      stop={within(turn, stop)}
      now={turn.turn === now}
    />
  );
  const drawn = turns.map((turn, place) => card(turn, place, lookAt(place)));
  if (!select) {
    return (
      <div className={className}>
        {drawn}
        {children}
      </div>
    );
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') select(null);
    const all = [...(body.current?.querySelectorAll<HTMLElement>('[data-token]') ?? [])];
    const at = selected ?? positionOf(all[0]);
    const to = {
      ArrowRight: all.find((each) => positionOf(each) > at),
      ArrowLeft: all.findLast((each) => positionOf(each) < at),
      Home: all[0],
      End: all.at(-1),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    select(positionOf(to));
    to.focus();
  };
  return (
    <div
      className={className}
      ref={body}
      role="toolbar"
      aria-label={label}
      aria-busy={!atOnce && turns.some((_, place) => settled(place) !== channel)}
      tabIndex={-1}
      onKeyDown={onKey}
    >
      {drawn}
      {children}
    </div>
  );
}

/** The first token that satisfies `matches`; null if none does. */
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
 * `t` if it lies in these spans, else null. So a new selection changes the props of, and redraws, only the spans it
 * concerns.
 */
function within({ spans }: Pick<ShownTurn, 'spans'>, t: number | null): number | null {
  const [first = Infinity, last = -1] = [spans[0]?.tokens[0], spans.at(-1)?.tokens.at(-1)];
  return t !== null && t >= first && t <= last ? t : null;
}

interface CardProps {
  readonly turn: ShownTurn;
  readonly setting: Setting;
  readonly look: Look;
  readonly around: TokenAnnotations;
  readonly lit: Props<never>['lit'];
  readonly selected: number | null;
  readonly stop: number | null; // the tab stop: the token that Tab focuses
  readonly select: Props<never>['select'];
  readonly now: boolean;
}

/** One turn. React redraws it only if its props change. */
const TurnCard = memo(function TurnCard({ turn, now, around, selected, stop, ...shown }: CardProps) {
  const title = turn.turn === 0 ? 'Prompt' : `Turn ${turn.turn}`;
  const { heading: Heading } = around;
  const spans = turn.spans.map((span, i) => (
    <SpanRow
      key={i}
      {...{ span, around, ...shown }}
      selected={within({ spans: [span] }, selected)}
      stop={within({ spans: [span] }, stop)}
    />
  ));
  if (!Heading) return spans;
  return (
    <article className="turn" data-now={now} aria-label={title}>
      <div className="turn-title">
        {!turn.continued && <Heading>{title}</Heading>}
        {around.chip?.(turn)}
      </div>
      <div className="turn-spans">
        {spans}
        {around.below?.(turn)}
      </div>
    </article>
  );
});

interface RowProps extends Omit<CardProps, 'turn' | 'now'> {
  readonly span: ShownSpan;
}

/** Tokens shown of a folded span; only spans that the agent did not write are folded. */
const FOLDED_TOKENS = 48;

const SpanRow = memo(function SpanRow({ span, around, setting, ...shown }: RowProps) {
  const [whole, setWhole] = useState(around.whole === true);
  const { kind, tokens, text } = span;
  const forced = kind === 'prompt' || kind === 'observation' || kind === 'system';
  const limit = forced && setting !== 'words' ? FOLDED_TOKENS : Infinity;
  const folds = around.whole !== true && tokens.length > limit;
  return (
    <div
      className="span"
      data-kind={kind}
      // a chat has no turn titles, so its spans are named
      {...(setting === 'text' && { role: 'group', 'aria-label': SPAN_KINDS[kind].label })}
    >
      <SpanLabel of={SPAN_KINDS[kind]} />
      {text === undefined ? (
        <span className="span-tokens" data-writing={setting}>
          {setting === 'text' || !around.parts ? (
            <Lines lines={firstTokens(span.lines ?? [tokens], whole ? Infinity : limit)} {...{ setting, ...shown }} />
          ) : (
            around.parts(folds && !whole ? tokens.slice(0, limit) : tokens, (part) => (
              <Tokens tokens={part} {...{ setting, ...shown }} />
            ))
          )}
          {folds && (
            <button type="button" className="quiet small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
              {whole ? 'Fold' : `… all ${count(tokens.length)} tokens`}
            </button>
          )}
          {around.note?.(span)}
        </span>
      ) : (
        around.text?.(text, tokens.length)
      )}
    </div>
  );
});

/** The first `limit` tokens of the lines. */
function firstTokens(lines: readonly (readonly number[])[], limit: number): readonly (readonly number[])[] {
  if (limit === Infinity) return lines;
  const first: (readonly number[])[] = [];
  let left = limit;
  for (const line of lines) {
    if (left <= 0) break;
    first.push(line.length <= left ? line : line.slice(0, left));
    left -= line.length;
  }
  return first;
}

interface TokensProps extends Omit<RowProps, 'span' | 'around'> {
  readonly tokens: readonly number[];
}

/** Tokens in lines in the setting `text`, otherwise one after the other. */
function Lines({ lines, ...shown }: Omit<TokensProps, 'tokens'> & { readonly lines: readonly (readonly number[])[] }) {
  if (shown.setting === 'text') {
    return lines.map((tokens, i) => (
      <Line
        key={i}
        {...shown}
        tokens={tokens}
        selected={within({ spans: [{ kind: 'answer', tokens }] }, shown.selected)}
        stop={within({ spans: [{ kind: 'answer', tokens }] }, shown.stop)}
      />
    ));
  }
  return <Tokens {...shown} tokens={lines.flat()} />;
}

/**
 * A line of a chat's text. CSS skips its painting while it is out of view; React redraws it only if its props change.
 */
const Line = memo(function Line(props: TokensProps) {
  return (
    <span className="text-line">
      <Tokens {...props} />
    </span>
  );
});

function Tokens({ tokens, setting, look, lit, selected, stop, select }: TokensProps) {
  return tokens.map((t) => (
    <Fragment key={t}>
      <Token {...{ t, setting, select }} look={look(t)} selected={t === selected} stop={t === stop} lit={lit?.(t)} />
      {setting === 'bytes' && look(t).word.endsWith('⏎') && <br />}
    </Fragment>
  ));
}

interface TokenProps {
  readonly t: number;
  readonly setting: Setting;
  readonly look: TokenLook;
  readonly selected?: boolean;
  readonly stop?: boolean; // the token that Tab focuses
  readonly lit?: number | undefined; // the `Mark` that the highlighted term of the formula gives the token
  readonly select?: Props<never>['select'];
}

/** A token, coloured by its channel. React draws it again only if its props change. */
export const Token = memo(function Token({
  t,
  setting,
  look,
  selected = false,
  stop = false,
  lit,
  select,
}: TokenProps) {
  const { word, kind, tag, trained, clipped, chosen, fill, title, name } = look;
  const shown = {
    className: 'token',
    ...{ 'data-kind': kind, 'data-tag': tag, 'data-loss': trained, 'data-chosen': chosen, 'data-clipped': clipped },
    ...(fill && { 'data-ramp': fill.ramp, 'data-na': fill.absent, 'data-sign': fill.down ? 'down' : 'up' }),
    ...(fill && { style: { '--share': fill.share.toFixed(3) } as CSSProperties }),
    ...{ 'data-lit': lit, title: title ?? LIT_TITLES[lit ?? Mark.none] },
  };
  const content = (
    <>
      <span className="word">{word}</span>
      {fill && fill.value !== null && (
        <>
          {' '}
          <span className="token-value">{fill.value}</span>
        </>
      )}
    </>
  );
  if (name === undefined || !select) {
    // in a chat, a token that can't be pressed is plain text: a long chat has thousands of tokens
    return setting === 'text' ? (
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
    ...{ ...shown, 'data-token': t, tabIndex: stop ? 0 : -1, 'aria-pressed': selected, 'aria-label': name },
    onClick: () => select(t),
  };
  // a span, because a line of text can't break inside a button
  return setting === 'text' ? (
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
  [Mark.rose]: '▲ Clipped while it became more likely',
  [Mark.fell]: '▼ Clipped while it became less likely',
};

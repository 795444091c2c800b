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

/** What is said around the tokens. Keep it one object: another draws every turn again. */
export interface TokenAnnotations {
  readonly whole?: boolean; // of what the agent didn't write nothing is folded away
  readonly heading?: 'h3' | 'h4'; // of a turn; without one turns have no titles
  readonly chip?: (turn: ShownTurn) => ReactNode; // beside a turn's title
  readonly below?: (turn: ShownTurn) => ReactNode;
  readonly note?: (span: ShownSpan) => ReactNode; // behind a span's tokens
  readonly text?: (text: string, tokens: number) => ReactNode; // a span that has text alone
  readonly parts?: (tokens: readonly number[], draw: (part: readonly number[]) => ReactNode) => ReactNode; // of a span of any length
}

interface Props<Channel> {
  readonly turns: readonly ShownTurn[];
  readonly setting: Setting;
  readonly channel: Channel;
  readonly looks: (channel: Channel) => Look; // the same function each time for a channel, so that tokens aren't drawn again
  readonly atOnce?: boolean; // another channel comes to all turns together, not to one with each paint
  readonly around?: TokenAnnotations;
  readonly now?: number | null; // the turn that is marked
  readonly lit?: ((t: number) => number | undefined) | undefined; // a `Mark` of a token
  readonly label?: string; // of what can be gone through by arrow keys
  readonly selected?: number | null;
  readonly select?: (t: number | null) => void; // a token is pressed; null: none is any more
  readonly className?: string;
  readonly children?: ReactNode; // after the last turn
}

/**
 * A rollout token by token: turns, in them spans in the colour of who wrote them, and in those tokens, filled by what a channel says.
 * The lab, Talk, Play, opened files and chats all draw their tokens with it. With `select` it is one tab stop, and arrow keys move in it.
 */
export function TokenView<Channel>(props: Props<Channel>) {
  const { turns, setting, channel, looks, atOnce = false, around = NOTHING_AROUND, lit } = props;
  const { now = null, label, selected = null, select, className = 'turns', children } = props;
  const body = useRef<HTMLDivElement>(null);
  const settled = useTurnByTurn(channel, turns.length);
  const lookAt = (place: number) => looks(atOnce ? channel : settled(place));
  // Tab reaches the token that is selected, or the first one that can be
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
    const at = selected ?? placeOf(all[0]);
    const to = {
      ArrowRight: all.find((each) => placeOf(each) > at),
      ArrowLeft: all.findLast((each) => placeOf(each) < at),
      Home: all[0],
      End: all.at(-1),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    select(placeOf(to));
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

function firstToken(turns: readonly ShownTurn[], is: (t: number) => boolean): number | null {
  for (const { spans } of turns)
    for (const { tokens } of spans) {
      const found = tokens.find(is);
      if (found !== undefined) return found;
    }
  return null;
}

const NOTHING_AROUND: TokenAnnotations = {};
const placeOf = (element: HTMLElement | undefined) => Number(element?.dataset['token'] ?? 0);

/** A token, where it lies in a turn or a span: only that one is drawn again. */
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
  readonly stop: number | null;
  readonly select: Props<never>['select'];
  readonly now: boolean;
}

/** Drawn again only where something in it has changed. */
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

/** Of text that the agent did not write, so many tokens are shown at first. */
const FOLDED = 48;

const SpanRow = memo(function SpanRow({ span, around, setting, ...shown }: RowProps) {
  const [whole, setWhole] = useState(around.whole === true);
  const { kind, tokens, text } = span;
  const forced = kind === 'prompt' || kind === 'observation' || kind === 'system';
  const most = forced && setting !== 'words' ? FOLDED : Infinity;
  const folds = around.whole !== true && tokens.length > most;
  return (
    <div
      className="span"
      data-kind={kind}
      {...(setting === 'text' && { role: 'group', 'aria-label': SPAN_KINDS[kind].label })} // a chat has no titles of turns
    >
      <SpanLabel of={SPAN_KINDS[kind]} />
      {text === undefined ? (
        <span className="span-tokens" data-writing={setting}>
          {setting === 'text' || !around.parts ? (
            <Lines lines={firstTokens(span.lines ?? [tokens], whole ? Infinity : most)} {...{ setting, ...shown }} />
          ) : (
            around.parts(folds && !whole ? tokens.slice(0, most) : tokens, (part) => (
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

function firstTokens(lines: readonly (readonly number[])[], most: number): readonly (readonly number[])[] {
  if (most === Infinity) return lines;
  const first: (readonly number[])[] = [];
  let left = most;
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

/** Tokens line by line where text has its own lines, else one after the other. */
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

/** A line is drawn when it comes into view, and again only where something in it has changed. */
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
  readonly stop?: boolean; // where the keyboard enters the row
  readonly lit?: number | undefined; // how the lit term of the formula marks it, a `Mark`
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
  const inside = (
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
    // what nobody presses in a chat is plain text: a long one has thousands
    return setting === 'text' ? (
      tag ? (
        <span className="template">{word}</span>
      ) : (
        word
      )
    ) : (
      <span {...shown}>{inside}</span>
    );
  }
  const pressed = {
    ...{ ...shown, 'data-token': t, tabIndex: stop ? 0 : -1, 'aria-pressed': selected, 'aria-label': name },
    onClick: () => select(t),
  };
  // a button is a box, which no line of text is broken in
  return setting === 'text' ? (
    <span role="button" {...pressed}>
      {word}
    </span>
  ) : (
    <button type="button" {...pressed}>
      {inside}
    </button>
  );
});

const LIT_TITLES: Readonly<Record<number, string>> = {
  [Mark.rose]: '▲ Clipped while it became more likely',
  [Mark.fell]: '▼ Clipped while it became less likely',
};

import type { SpanKind, Writing } from '../../domain/tokens.ts';
import type { Span, Turn } from '../../domain/tokenSpans.ts';
import { short, signed } from '../parts/numberText.ts';

/** How tokens are laid out: as separate words, as subword tokens in boxes, or as a chat's running text. */
export type Setting = Writing | 'text';

/** A span as it is drawn. */
export interface ShownSpan extends Span {
  readonly text?: string; // shown if the span has no tokens
  // the tokens in lines; a line that is the same array as before isn't redrawn
  readonly lines?: readonly (readonly number[])[];
}

/** A turn as it is drawn. */
export interface ShownTurn extends Turn {
  readonly spans: readonly ShownSpan[];
  readonly continued?: boolean; // the title of this turn is shown above an earlier part
}

/** What a token looks like. Missing fields are unknown or not shown. */
export interface TokenLook {
  readonly word: string;
  readonly kind: SpanKind;
  readonly tag?: boolean; // a tag, or a token of a chat template
  readonly trained?: boolean; // in the loss; tokens outside it are hatched
  readonly clipped?: boolean;
  readonly chosen?: boolean; // a person put it there
  readonly fill?: Fill;
  readonly title?: string;
  readonly name?: string; // accessible name; a token without one can't be pressed
}

/** A token's value in a channel, as drawn: the strength of the colour and the number below the word. */
export interface Fill {
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly share: number; // strength of the colour, from 0 to 1
  readonly down: boolean; // the value is below 0
  readonly absent: boolean; // the channel has no value here: hatched
  readonly value: string | null; // null: no number is written
}

/** Gives the look of token `t`. Must return the same object while the look is unchanged, or the token is redrawn. */
export type Look = (t: number) => TokenLook;

/** Wraps a `Look` so that it computes each token once. */
export function onceEach(look: Look): Look {
  const known: TokenLook[] = [];
  return (t) => (known[t] ??= look(t));
}

/**
 * The fill for a value. `size` sets colour and sign (default: the value), `text` the number shown; without a value it
 * is hatched.
 */
export function fillOf(
  value: number | null | undefined,
  ramp: 'diverging' | 'sequential',
  scale: number,
  { size = value ?? 0, text = valueText(value, ramp) }: { readonly size?: number; readonly text?: string | null } = {},
): Fill {
  const absent = value === null || value === undefined;
  const share = scale > 0 && !absent ? Math.min(1, Math.abs(size) / scale) : 0;
  return { ramp: absent ? 'none' : ramp, share, down: size < 0, absent, value: text };
}

/** A channel's value as text: with its sign in a diverging channel, `–` if missing. */
export function valueText(value: number | null | undefined, ramp: 'diverging' | 'sequential'): string {
  if (value === null || value === undefined) return '–';
  return ramp === 'diverging' ? signed(value) : short(value);
}

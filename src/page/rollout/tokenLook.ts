import type { SpanKind, Writing } from '../../domain/tokens.ts';
import type { Span, Turn } from '../../domain/tokenSpans.ts';
import { shortNumber, signedNumber } from '../words/numberText.ts';

/** How tokens are laid out: as separate words, as subword tokens in boxes, or as a chat's running text. */
export type TokenLayout = Writing | 'text';

export interface ShownSpan extends Span {
  readonly text?: string; // shown if the span has no tokens
  // the tokens in lines; a line that is the same array as before isn't rendered again
  readonly lines?: readonly (readonly number[])[];
}

export interface ShownTurn extends Turn {
  readonly spans: readonly ShownSpan[];
  readonly continued?: boolean; // the turn is shown in several parts; its title stands above an earlier part
}

/** What a token looks like. Missing fields are unknown or not shown. */
export interface TokenLook {
  readonly word: string;
  readonly kind: SpanKind;
  readonly tag?: boolean; // a tag, or a token of a chat template
  readonly trained?: boolean; // in the policy loss; tokens outside it are hatched
  readonly predicted?: boolean; // learned as a prediction, in the observation loss: dotted
  readonly clipped?: boolean;
  readonly drifted?: boolean; // others of the same text were drawn in its place: wavy underline
  readonly chosen?: boolean; // a person chose this token in place of the drawn one
  readonly fill?: Fill;
  readonly title?: string;
  readonly accessibleName?: string; // a token without it can't be pressed
}

/** How a token shows its value in a channel: the strength of the colour and the number below the word. */
export interface Fill {
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly strength: number; // of the colour, from 0 to 1
  readonly isNegative: boolean; // the value is below 0
  readonly absent: boolean; // the channel has no value here: hatched
  readonly text: string | null; // null: no number is written
}

/** Gives the look of token `t`. Must return the same object while the look is unchanged, or the token re-renders. */
export type Look = (t: number) => TokenLook;

/** Wraps a `Look` so that it computes each token once. */
export function memoizedLook(look: Look): Look {
  const cache: TokenLook[] = [];
  return (t) => (cache[t] ??= look(t));
}

/** `extent` sets colour and sign (default: the value), `text` the number shown; without a value it is hatched. */
export function fillOf(
  value: number | null | undefined,
  ramp: 'diverging' | 'sequential',
  scale: number,
  {
    extent = value ?? 0,
    text = valueText(value, ramp),
  }: { readonly extent?: number; readonly text?: string | null } = {},
): Fill {
  const absent = value === null || value === undefined;
  const strength = scale > 0 && !absent ? Math.min(1, Math.abs(extent) / scale) : 0;
  return { ramp: absent ? 'none' : ramp, strength, isNegative: extent < 0, absent, text };
}

/** A channel's value as text: with its sign in a diverging channel, `–` if missing. */
export function valueText(value: number | null | undefined, ramp: 'diverging' | 'sequential'): string {
  if (value === null || value === undefined) return '–';
  return ramp === 'diverging' ? signedNumber(value) : shortNumber(value);
}

import type { SpanKind, Writing } from '../../domain/tokens.ts';
import type { Span, Turn } from '../../domain/tokenSpans.ts';
import { short, signed } from '../parts/numberText.ts';

/** How tokens are set: words apart, pieces of bytes as text in boxes, or a chat's text as it stands. */
export type Setting = Writing | 'text';

/** A span as it is drawn. */
export interface ShownSpan extends Span {
  readonly text?: string; // in place of its tokens, where there are none
  readonly lines?: readonly (readonly number[])[]; // its tokens, line by line; a line that stays the same list isn't drawn again
}

/** A turn as it is drawn. */
export interface ShownTurn extends Turn {
  readonly spans: readonly ShownSpan[];
  readonly continued?: boolean; // the part before it has its title
}

/** What a token looks like. What is left out nobody knows, or it isn't shown. */
export interface TokenLook {
  readonly word: string;
  readonly kind: SpanKind;
  readonly tag?: boolean; // or of a chat template
  readonly trained?: boolean; // hatched where the loss leaves it out
  readonly clipped?: boolean;
  readonly chosen?: boolean; // a person put it there
  readonly fill?: Fill;
  readonly title?: string;
  readonly name?: string; // said of a token that can be pressed; without one nothing presses it
}

/** What a channel says of a token: the strength of its colour, and the number below the word. */
export interface Fill {
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly share: number; // of full strength, from 0 to 1
  readonly down: boolean; // below 0
  readonly absent: boolean; // the channel has nothing to say: hatched
  readonly value: string | null; // null: no number is written
}

/** How every token of a rollout looks: the same object again for as long as a token looks the same, or it is drawn again. */
export type Look = (t: number) => TokenLook;

/** A look that works out each token once. */
export function onceEach(look: Look): Look {
  const known: TokenLook[] = [];
  return (t) => (known[t] ??= look(t));
}

/** A number of a token, with the extent it is coloured by, as a channel shows it; without a number the channel says nothing. */
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

/** A channel's number of a token, in words. */
export function valueText(value: number | null | undefined, ramp: 'diverging' | 'sequential'): string {
  if (value === null || value === undefined) return '–';
  return ramp === 'diverging' ? signed(value) : short(value);
}

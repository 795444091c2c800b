import { type Block, type Passage, tokenAt } from '../../domain/textSpans.ts';
import type { SpokenToken } from '../../wire/speakerMessages.ts';
import { fillOf, type Look, type ShownTurn, type TokenLook } from '../rollout/tokenLook.ts';

/** What the colour of a chat's tokens says. */
export type ChatChannel = 'none' | 'surprise';

/** Surprise at full strength, in nats: what has a probability of one in four hundred. */
const STRONG = 6;

type ChatPassage = Passage<SpokenToken>;

const turns = new WeakMap<ChatPassage, ShownTurn>();
const lines = new WeakMap<Block, readonly number[]>();

/** A chat's passages, a turn each, line by line. What nothing was added to stays the same object, so that it isn't drawn again. */
export function chatTurns(passages: readonly ChatPassage[]): readonly ShownTurn[] {
  return passages.map((passage) => once(turns, passage, turnOf));
}

function turnOf({ kind, turn, from, count, blocks }: ChatPassage): ShownTurn {
  const tokens = Array.from({ length: count }, (_, i) => from + i);
  return { turn, spans: [{ kind, tokens, lines: blocks.map((block) => once(lines, block, placesOf)) }] };
}

const placesOf = ({ from, tokens }: Block) => tokens.map((_, i) => from + i);

function once<K extends object, T>(known: WeakMap<K, T>, key: K, make: (key: K) => T): T {
  const value = known.get(key) ?? make(key);
  known.set(key, value);
  return value;
}

/** How a chat's tokens look under each channel; only what the model wrote itself can be pressed. */
export function chatLooks(passages: () => readonly ChatPassage[]): (channel: ChatChannel) => Look {
  const looks = { none: lookOf(passages, false), surprise: lookOf(passages, true) };
  return (channel) => looks[channel];
}

function lookOf(passages: () => readonly ChatPassage[], surprise: boolean): Look {
  const known = new WeakMap<SpokenToken, TokenLook>();
  return (t) => {
    const token = tokenAt(passages(), t);
    return token ? once(known, token, (its) => tokenLook(its, surprise)) : NO_TOKEN;
  };
}

const NO_TOKEN: TokenLook = { word: '', kind: 'prompt' };

function tokenLook({ text, shown, special, likely, logprob }: SpokenToken, surprise: boolean): TokenLook {
  const look: TokenLook = { word: text === '' ? '·' : text, kind: 'answer', tag: special }; // '·': a part of a letter that is completed later
  if (!likely) return look;
  const fill = surprise ? { fill: fillOf(-(logprob ?? -STRONG), 'sequential', STRONG, { text: null }) } : {};
  return { ...look, ...fill, name: shown };
}

import type { Block, Passage } from '../../domain/textSpans.ts';
import { tokenAt } from './passageTokens.ts';
import type { SpokenToken } from '../../wire/speakerMessages.ts';
import { fillOf, type Look, type ShownTurn, type TokenLook } from '../rollout/tokenLook.ts';

export type ChatChannel = 'none' | 'surprise';

/** Surprise (−log p) shown at full strength, in nats: a probability of about 1 in 400. */
const FULL_SURPRISE = 6;

type ChatPassage = Passage<SpokenToken>;

const turnCache = new WeakMap<ChatPassage, ShownTurn>();
const lineCache = new WeakMap<Block, readonly number[]>();

/** Makes one turn of each passage. Returns the same object for an unchanged turn or line, so that it isn't rendered again. */
export function chatTurns(passages: readonly ChatPassage[]): readonly ShownTurn[] {
  return passages.map((passage) => cached(turnCache, passage, turnOf));
}

function turnOf({ kind, turn, from, count, blocks }: ChatPassage): ShownTurn {
  const tokens = Array.from({ length: count }, (_, i) => from + i);
  return { turn, spans: [{ kind, tokens, lines: blocks.map((block) => cached(lineCache, block, positionsOf)) }] };
}

const positionsOf = ({ from, tokens }: Block) => tokens.map((_, i) => from + i);

function cached<K extends object, T>(cache: WeakMap<K, T>, key: K, make: (key: K) => T): T {
  const value = cache.get(key) ?? make(key);
  cache.set(key, value);
  return value;
}

/** How a chat's tokens look in each channel. Only tokens that the model wrote can be pressed. */
export function chatLooks(passages: () => readonly ChatPassage[]): (channel: ChatChannel) => Look {
  const looks = { none: lookOf(passages, false), surprise: lookOf(passages, true) };
  return (channel) => looks[channel];
}

function lookOf(passages: () => readonly ChatPassage[], showsSurprise: boolean): Look {
  const cache = new WeakMap<SpokenToken, TokenLook>();
  return (t) => {
    const token = tokenAt(passages(), t);
    return token ? cached(cache, token, (written) => tokenLook(written, showsSurprise)) : NO_TOKEN;
  };
}

const NO_TOKEN: TokenLook = { word: '', kind: 'prompt' };

function tokenLook({ text, shown, special, likely, logprob }: SpokenToken, showsSurprise: boolean): TokenLook {
  // '·' stands for a part of a character that a later token completes
  const look: TokenLook = { word: text === '' ? '·' : text, kind: 'answer', tag: special };
  if (!likely) return look;
  const fill = showsSurprise
    ? { fill: fillOf(-(logprob ?? -FULL_SURPRISE), 'sequential', FULL_SURPRISE, { text: null }) }
    : {};
  return { ...look, ...fill, accessibleName: shown };
}

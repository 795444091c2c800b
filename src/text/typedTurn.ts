import type { Codec } from './codec.ts';
import { outsideText } from './outsideText.ts';

/** The tags of a turn. A person may type them, even if they are special tokens. */
const TAG = /(<\/?(?:tool_call|think|answer)>)/;

/**
 * Encodes a turn that a person types in the agent's place, with a stop id at the end. JSON alone is put between the
 * tags of a call. Apart from tags, typed text never becomes a special token. Throws RangeError if the turn has more
 * than `budget` tokens.
 */
export function typedTurn(codec: Codec, typed: string, budget: number): readonly number[] {
  const text = /^\s*\{[\s\S]*\}\s*$/.test(typed) ? `<tool_call>\n${typed.trim()}\n</tool_call>` : typed;
  const stop = codec.stops[0];
  const outside = outsideText(codec);
  const markedParts = text.split(TAG).map((part, i) => (i % 2 === 1 ? part : outside.mark(part)));
  const ids = [...outside.encode(markedParts.join('')), ...(stop === undefined ? [] : [stop])];
  if (ids.length <= budget) return ids;
  throw new RangeError(`The turn has ${ids.length} tokens, and at most ${budget} fit. Say it in fewer words.`);
}

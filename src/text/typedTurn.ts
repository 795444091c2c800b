import type { Codec } from './codec.ts';
import { outsideText } from './outsideText.ts';

/** What a turn is written with, which is no special token's forgery. */
const TAG = /(<\/?(?:tool_call|think|answer)>)/;

/**
 * A turn that a person types in an agent's place, as the agent would draw it: its end is put behind it, and JSON alone is put between the
 * tags of a call. No special token but those tags is made of what is typed. Throws RangeError where it is longer than `budget` tokens.
 */
export function typedTurn(codec: Codec, typed: string, budget: number): readonly number[] {
  const text = /^\s*\{[\s\S]*\}\s*$/.test(typed) ? `<tool_call>\n${typed.trim()}\n</tool_call>` : typed;
  const stop = codec.stops[0];
  const outside = outsideText(codec);
  const marked = text.split(TAG).map((part, i) => (i % 2 === 1 ? part : outside.mark(part)));
  const ids = [...outside.encode(marked.join('')), ...(stop === undefined ? [] : [stop])];
  if (ids.length <= budget) return ids;
  throw new RangeError(`The turn has ${ids.length} tokens, and at most ${budget} fit. Say it in fewer words.`);
}

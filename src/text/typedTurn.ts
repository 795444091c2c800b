import type { Codec } from './codec.ts';

/**
 * A turn that a person types in an agent's place, as the agent would draw it: its end is put behind it, and JSON alone is put between the
 * tags of a call. Throws RangeError where it is longer than `budget` tokens.
 */
export function typedTurn(codec: Codec, typed: string, budget: number): readonly number[] {
  const text = /^\s*\{[\s\S]*\}\s*$/.test(typed) ? `<tool_call>\n${typed.trim()}\n</tool_call>` : typed;
  const stop = codec.stops[0];
  const ids = [...codec.encode(text), ...(stop === undefined ? [] : [stop])];
  if (ids.length <= budget) return ids;
  throw new RangeError(`The turn has ${ids.length} tokens; want at most ${budget}. Say it in fewer words.`);
}

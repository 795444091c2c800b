import { THINK_WORDS } from './grammar.ts';

/**
 * The share of the words of a think span that are among `needs`, the words that name what the right next action needs. A word
 * said twice counts once among those that are right and twice among those said, so padding never pays. An empty span earns 0.
 */
export function thoughtShare(thought: readonly string[], needs: readonly string[]): number {
  if (thought.length === 0) return 0;
  return new Set(thought.filter((word) => needs.includes(word))).size / thought.length;
}

/** Puts a `<think>` span before a turn, with the words of its call or answer, each once, up to the length of a span. */
export function thinkAloud(action: readonly string[]): readonly string[] {
  const thought = [...new Set(action.slice(1, -1))].slice(0, THINK_WORDS);
  return ['<think>', ...thought, '</think>', ...action];
}

/** Tags and markers every word-level vocabulary has; `<pad>` is id 0 and `<bos>` id 1. */
export const TAGS = [
  '<pad>',
  '<bos>',
  '<think>',
  '</think>',
  '<call>',
  '</call>',
  '<obs>',
  '</obs>',
  '<answer>',
  '</answer>',
] as const;

/** What a turn of words says. */
export interface TaggedTurn {
  readonly kind: 'call' | 'answer';
  readonly words: readonly string[];
  readonly thought: readonly string[]; // words of the think span
  readonly thinkEnd: number; // index of `</think>`; −1 without a span
}

/**
 * Reads one turn: `<call> words </call>` or `<answer> words </answer>`, and nothing around it but, with `think`, a leading
 * `<think> … </think>`, whose words decide nothing. Anything else, a tag inside a span too, is malformed, which is null:
 * an observation the agent prints itself is no observation.
 */
export function readTags(words: readonly string[], think: boolean): TaggedTurn | null {
  let thinkEnd = -1;
  if (think && words[0] === '<think>') {
    thinkEnd = words.indexOf('</think>');
    if (thinkEnd < 0 || words.slice(1, thinkEnd).some(isTag)) return null;
  }
  const start = thinkEnd + 1;
  const thought = words.slice(1, Math.max(1, thinkEnd));
  const open = words[start];
  const inner = words.slice(start + 1, -1);
  if (words.length < start + 2 || inner.some(isTag)) return null;
  const close = words.at(-1);
  if (open === '<call>' && close === '</call>') return { kind: 'call', words: inner, thought, thinkEnd };
  if (open === '<answer>' && close === '</answer>') return { kind: 'answer', words: inner, thought, thinkEnd };
  return null;
}

const tags = new Set<string>(TAGS);
/** Whether a word is a tag or a marker. */
export function isTag(word: string): boolean {
  return tags.has(word);
}

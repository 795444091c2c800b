/** The tags and markers in every word-level vocabulary; `<pad>` is id 0 and `<bos>` id 1. */
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

/** The content of a turn in a word-level vocabulary. */
export interface TaggedTurn {
  readonly kind: 'call' | 'answer';
  readonly words: readonly string[]; // words of the call or the answer
  readonly thought: readonly string[]; // words of the thought
  readonly thinkEnd: number; // index of `</think>`; −1 if there is no thought
}

/**
 * Reads one turn: `<call> words </call>` or `<answer> words </answer>`. With `think`, a thought in `<think> … </think>`
 * may come before it. Returns null if the turn is malformed: if there is anything else, or a tag inside a call, an
 * answer or a thought. So an agent can't fake an observation by writing `<obs>`.
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

const tagSet = new Set<string>(TAGS);
/** Whether a word is a tag or a marker. */
export function isTag(word: string): boolean {
  return tagSet.has(word);
}

import { TAGS, type Vocabulary } from './vocab.ts';

/** What a turn of action tokens says; null: malformed. */
export type ParsedTurn = { readonly kind: 'call' | 'answer'; readonly words: readonly string[] } | null;

/**
 * Reads one turn: `<call> words </call>` or `<answer> words </answer>`, and nothing around it but, with `think`, a leading
 * `<think> … </think>`, whose words are skipped unread. Anything else, a tag inside a span too, is malformed: an
 * observation the agent prints itself is no observation.
 */
export function parseTurn(action: readonly number[], vocabulary: Vocabulary, think: boolean): ParsedTurn {
  const words = action.map(vocabulary.word);
  let start = 0;
  if (think && words[0] === '<think>') {
    const close = words.indexOf('</think>');
    if (close < 0 || words.slice(1, close).some(isTag)) return null;
    start = close + 1;
  }
  const open = words[start];
  const inner = words.slice(start + 1, -1);
  if (words.length < start + 2 || inner.some(isTag)) return null;
  const close = words.at(-1);
  if (open === '<call>' && close === '</call>') return { kind: 'call', words: inner };
  if (open === '<answer>' && close === '</answer>') return { kind: 'answer', words: inner };
  return null;
}

const tags = new Set<string>(TAGS);
function isTag(word: string): boolean {
  return tags.has(word);
}

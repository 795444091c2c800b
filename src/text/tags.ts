import type { Codec } from './codec.ts';
import { outsideText } from './outsideText.ts';
import { jsonLine, type ToolFace } from './toolSchema.ts';
import type { ReadTurn, TurnFormat, WrittenTurn } from './turnFormat.ts';

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

/** What tagged turns are made of. */
export interface TagParts {
  readonly codec: Codec;
  readonly tool: ToolFace | null; // a call names no tool, so there is one at most
  readonly think: boolean; // a turn may begin with a thought
}

/**
 * Turns word by word, as the environments of this project write them: a prompt of `<bos>` and words, `<call> words </call>`,
 * `<answer> words </answer>`, `<obs> words </obs>`. The words of a call are the tool's arguments in their order; the last takes what is left.
 * The closing tag of a turn is its stop id, so nothing is forced for a turn that has none.
 */
export function tagsFormat({ codec, tool, think }: TagParts): TurnFormat {
  const outside = outsideText(codec);
  const spanned = (tag: string, words: string) => `<${tag}> ${outside.mark(words)} </${tag}>`;
  const written = (turn: WrittenTurn) =>
    'answer' in turn
      ? spanned('answer', turn.answer)
      : spanned('call', Object.values(turn.values).map(plain).join(' '));
  return {
    name: 'tags',
    codec,
    stops: codec.stops,
    promptIds: ({ system, question }) => outside.encode(`<bos> ${outside.mark(`${system ?? ''} ${question}`)}`),
    observationIds: (observation) => outside.encode(spanned('obs', observation)),
    turnIds: (turn) =>
      outside.encode(`${turn.thought === undefined ? '' : spanned('think', turn.thought)} ${written(turn)}`),
    read: (turn) => {
      const tagged = readTags(
        turn.map((id) => codec.decode([id])),
        think,
      );
      return tagged
        ? said(tagged, tool)
        : { kind: 'mistake', mistake: { kind: 'format', said: MALFORMED }, thought: '' };
    },
  };
}

const plain = (value: unknown) => (typeof value === 'string' ? value : jsonLine(value));

const MALFORMED = 'neither a call nor an answer; want <call> … </call> or <answer> … </answer>';

function said({ kind, words, thought }: TaggedTurn, tool: ToolFace | null): ReadTurn {
  const aloud = thought.join(' ');
  if (kind === 'answer') return { kind, answer: words.join(' '), thought: aloud };
  if (!tool)
    return {
      kind: 'mistake',
      mistake: { kind: 'tool', said: 'a call; want an answer: there are no tools' },
      thought: aloud,
    };
  const names = tool.parameters.map((parameter) => (typeof parameter === 'string' ? parameter : parameter.name));
  const last = names.length - 1;
  if (words.length < names.length || (last < 0 && words.length > 0)) {
    const want = names.length === 0 ? 'none' : names.join(', ');
    return {
      kind: 'mistake',
      mistake: { kind: 'arguments', said: `${words.length} words for ${tool.name}; want ${want}` },
      thought: aloud,
    };
  }
  const values = Object.fromEntries(
    names.map((name, i) => [name, i < last ? (words[i] ?? '') : words.slice(last).join(' ')]),
  );
  return { kind: 'call', tool: tool.name, values, thought: aloud };
}

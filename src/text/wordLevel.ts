import { field, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import type { WordVocabulary } from './wordCodec.ts';

const REMEDY = 'Choose a checkpoint with a word-level tokenizer over the words of the environment.';

/**
 * Reads the vocabulary of a WordLevel tokenizer.json. Throws ProblemError if the tokenizer is of another kind, or if
 * ids have gaps or occur twice.
 */
export function readWordLevel(tokenizer: JsonRecord, file: string): WordVocabulary {
  const fail = (place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
  const model = field(tokenizer, 'model');
  const type = isRecord(model) ? field(model, 'type') : undefined;
  if (!isRecord(model) || type !== 'WordLevel')
    throw fail('model.type', valueText(type), 'WordLevel, one word per token');
  const splitter = field(tokenizer, 'pre_tokenizer');
  const split = isRecord(splitter) ? field(splitter, 'type') : splitter;
  if (split !== 'WhitespaceSplit')
    throw fail('pre_tokenizer', valueText(split), 'WhitespaceSplit, words separated by spaces');
  const normalizer = field(tokenizer, 'normalizer') ?? null;
  if (normalizer !== null) throw fail('normalizer', valueText(normalizer), 'null: words as they are');
  const vocab = field(model, 'vocab');
  if (!isRecord(vocab)) throw fail('model.vocab', valueText(vocab), 'ids by word');
  const entries = Object.entries(vocab);
  const words = new Array<string>(entries.length);
  for (const [word, id] of entries) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= entries.length || words[id] !== undefined) {
      throw fail(`model.vocab, ${word}`, valueText(id), `each of 0 … ${entries.length - 1} once`);
    }
    words[id] = word;
  }
  const unknown = words.indexOf(String(field(model, 'unk_token')));
  return { words, unknown: unknown < 0 ? null : unknown, special: readSpecial(tokenizer, words, fail) };
}

function readSpecial(
  tokenizer: JsonRecord,
  words: readonly string[],
  fail: (place: string, got: string, want: string) => ProblemError,
): readonly string[] {
  const added = field(tokenizer, 'added_tokens') ?? [];
  if (!Array.isArray(added)) throw fail('added_tokens', valueText(added), 'a list');
  const known = new Set(words);
  return added.map((token: unknown, i) => {
    const content = isRecord(token) ? field(token, 'content') : undefined;
    if (typeof content !== 'string' || !known.has(content)) {
      throw fail(`added_tokens, ${i}`, valueText(content), 'a word of the vocabulary');
    }
    return content;
  });
}

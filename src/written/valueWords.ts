import { isTag } from '../text/tags.ts';
import { jsonLine, matchesSchema, typesOf, type ValueSchema } from '../text/toolSchema.ts';

/** The word that stands for an empty text. */
const EMPTY = '""';
/** The word that stands for an argument that a call leaves out. */
export const DEFAULT = '<default>';

/** Splits a text into words at blanks. Punctuation around a word becomes words of its own. */
export function textWords(text: string): readonly string[] {
  return text.split(/\s+/).flatMap((part) => {
    const [, before = '', word = '', after = ''] = /^(["'“‘([{]*)(.*?)([)\]}"'”’.,;:!?]*)$/u.exec(part) ?? [
      '',
      '',
      part,
    ];
    return [...Array.from(before), ...(word === '' ? [] : [word]), ...Array.from(after)];
  });
}

/**
 * Writes an argument as words, so that `wordsValue` reads it back exactly with the same schema. If splitting would lose
 * something, the whole text is one word. A list of single words is written as these words; any other list, an object,
 * or a value that would be read as another one, is one word in JSON.
 */
export function valueWords(value: unknown, schema: ValueSchema = ANY_TEXT): readonly string[] {
  if (value === undefined) return [DEFAULT];
  if (isText(schema) || typeof value !== 'object' || value === null) {
    const words = textValueWords(typeof value === 'string' ? value : jsonLine(value));
    const isExact = typeof value !== 'string' || isText(schema) || wordsValue(words, schema) === value;
    return isExact ? words : [jsonLine(value)];
  }
  const words = Array.isArray(value) ? value.map((item, at) => valueWords(item, itemSchema(schema, at))) : [];
  const isPlainList = words.length > 0 && words.every(({ length }) => length === 1);
  const flat = words.flat();
  return isPlainList && jsonLine(wordsValue(flat, schema)) === jsonLine(value) ? flat : [jsonLine(value)];
}

function textValueWords(text: string): readonly string[] {
  const words = textWords(text);
  if (text === '') return [EMPTY];
  return words.join(' ') === text && !words.some(isTag) ? words : [text];
}

/**
 * Reads an argument that matches a schema from words. If the words don't match it, returns them as text. An argument
 * that was left out is undefined.
 */
export function wordsValue(words: readonly string[], schema: ValueSchema): unknown {
  const text = words.join(' ');
  if (text === DEFAULT) return undefined;
  if (isText(schema)) return text === EMPTY ? '' : text;
  const scalars = { true: true, false: false, null: null } as const;
  const isList = typesOf(schema)?.includes('array') ?? false;
  const candidates: readonly unknown[] = [
    ...(Object.hasOwn(scalars, text) ? [scalars[text as keyof typeof scalars]] : []),
    ...(text.trim() === '' || Number.isNaN(Number(text)) ? [] : [Number(text)]),
    ...(/^[[{"]/.test(text) ? jsonValues(text) : []),
    text === EMPTY ? '' : text,
    ...(isList ? [words.map((word, at) => wordsValue([word], itemSchema(schema, at)))] : []),
  ];
  return candidates.find((candidate) => matchesSchema(candidate, schema)) ?? (text === 'null' ? null : text);
}

const ANY_TEXT: ValueSchema = { type: 'string' };

/** Whether every text matches, and nothing but texts. */
const isText = ({ type, enum: choices, nullable }: ValueSchema) => type === 'string' && !nullable && !isMixed(choices);
const isMixed = (choices: ValueSchema['enum']) => choices?.some((choice) => typeof choice !== 'string') ?? false;

/** The schema of an item of a list that matches this schema. */
function itemSchema({ items, prefixItems, anyOf }: ValueSchema, at: number): ValueSchema {
  const list = anyOf?.find((each) => each.items ?? each.prefixItems);
  return prefixItems?.[at] ?? items ?? (list ? itemSchema(list, at) : {});
}

function jsonValues(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text) as unknown];
  } catch {
    return []; // a text that only begins like JSON
  }
}

import type { GgufHeader, GgufValue } from '../formats/ggufHeader.ts';
import { ProblemError } from '../base/problem.ts';
import { bpeCodec } from './bpeCodec.ts';
import type { Codec } from './codec.ts';
import { isolatingSplit, GGUF_SPLITS } from './preTokenizer.ts';

const REMEDY = 'Choose a checkpoint with a byte-level BPE vocabulary (SmolLM, Qwen, Llama 3).';

/** Types of tokens in ggml. */
const TokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/**
 * The codec of the vocabulary in a GGUF file. `tokenizer.ggml.model` must be gpt2; `tokenizer.ggml.pre` names the way
 * text is split. Control and unknown tokens are special. User-defined tokens are also found in text; unused tokens
 * never are. Throws ProblemError, with the key, if the vocabulary is of another kind.
 */
export function codecFromGguf({ file, metadata }: GgufHeader): Codec {
  const fail = (place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
  const key = (name: string) => `tokenizer.ggml.${name}`;
  const model = metadata.get(key('model'));
  if (model !== 'gpt2') throw fail(key('model'), shown(model), 'gpt2, which is BPE over bytes');
  const splitName = metadata.get(key('pre'));
  const namedSplit =
    typeof splitName === 'string' && Object.hasOwn(GGUF_SPLITS, splitName) ? GGUF_SPLITS[splitName] : undefined;
  if (!namedSplit) throw fail(key('pre'), shown(splitName), `one of ${Object.keys(GGUF_SPLITS).join(', ')}`);
  const readList = <T extends GgufValue>(
    name: string,
    hasType: (value: GgufValue) => value is T,
    want: string,
  ): readonly T[] => {
    const value = metadata.get(key(name));
    if (!Array.isArray(value)) throw fail(key(name), shown(value), `a list of ${want}`);
    return (value as readonly GgufValue[]).map((element, i) => {
      if (!hasType(element)) throw fail(`${key(name)}, ${i}`, shown(element), want);
      return element;
    });
  };
  const tokenTexts = readList('tokens', isText, 'texts');
  const types = readList('token_type', isTokenType, 'numbers from 1 to 5');
  if (types.length !== tokenTexts.length)
    throw fail(key('token_type'), `${types.length} types`, `${tokenTexts.length}, one per token`);
  const tokens = new Map<string, number>();
  tokenTexts.forEach((word, id) => {
    if (types[id] !== TokenType.normal) return;
    const earlierId = tokens.get(word);
    if (earlierId !== undefined)
      throw fail(`${key('tokens')}, ${id}`, `${word}, which is also token ${earlierId}`, 'every token once');
    tokens.set(word, id);
  });
  const added = tokenTexts.flatMap((content, id) => {
    const type = types[id];
    const special = type === TokenType.control || type === TokenType.unknown;
    return (special || type === TokenType.userDefined) && content !== ''
      ? [{ id, content, special, normalized: false }]
      : [];
  });
  const merges = readList('merges', isText, 'texts').map((merge, i) => {
    const [left, right, extra] = merge.split(' ');
    if (!left || !right || extra !== undefined)
      throw fail(`${key('merges')}, ${i}`, merge, 'two tokens separated by a space');
    return [left, right] as const;
  });
  const stops = ['eos_token_id', 'eot_token_id'].flatMap((name) => {
    const id = metadata.get(key(name));
    if (id === undefined) return [];
    if (typeof id !== 'number' || !Number.isInteger(id) || tokenTexts[id] === undefined) {
      throw fail(key(name), shown(id), `0 … ${tokenTexts.length - 1}`);
    }
    return [id];
  });
  const splits = namedSplit.patterns.map(isolatingSplit);
  return bpeCodec({
    file,
    tokens,
    merges,
    added,
    nfc: namedSplit.nfc,
    splits,
    ignoreMerges: namedSplit.ignoreMerges,
    unknownId: null,
    stops,
  });
}

const isText = (value: GgufValue): value is string => typeof value === 'string';
const isTokenType = (value: GgufValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= TokenType.normal && value <= TokenType.unused;

function shown(value: GgufValue | undefined): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'object' ? 'a list' : String(value) || "''";
}

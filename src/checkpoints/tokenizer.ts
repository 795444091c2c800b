import { isRecord } from '../base/jsonRecord.ts';
import { jsonText, readJson } from '../formats/jsonFile.ts';
import { readWordLevel } from '../text/wordLevel.ts';
import { FILE_NAMES } from './checkpointFolder.ts';

/** The words that end a turn of the agent. There is no separate end-of-turn token. */
const TURN_END_WORDS = ['</call>', '</answer>'] as const;
/** Words that neither the agent nor its environment writes. Text without special tokens leaves them out. */
const SPECIAL_WORDS = ['<pad>', '<bos>'] as const;

export interface SpecialIds {
  readonly pad: number;
  readonly bos: number | null; // null: a text begins with whatever its chat template writes
  readonly turnEnds: readonly number[]; // the tokens that end a turn
}

export function wordSpecialIds(words: readonly string[]): SpecialIds {
  const [pad = 0, bos = 1] = idsOf(words, SPECIAL_WORDS);
  return { pad, bos, turnEnds: idsOf(words, TURN_END_WORDS) };
}

function idsOf(words: readonly string[], wanted: readonly string[]): number[] {
  return wanted.map((word) => words.indexOf(word)).filter((id) => id >= 0);
}

/**
 * tokenizer.json: text is split at blanks, and each word is a token. Tags such as `<call>` are ordinary words: if they
 * were special tokens, programs that skip special tokens before they compute rewards would never see them. A word
 * outside the vocabulary becomes `<pad>`, which no episode contains. The model has no embedding for an unknown word,
 * and a tokenizer without an unknown token would reject such text, also in other programs' checks.
 */
export function tokenizerFile(words: readonly string[]): string {
  const addedTokens = SPECIAL_WORDS.map((content) => ({
    ...{ id: words.indexOf(content), content, single_word: false },
    ...{ lstrip: false, rstrip: false, normalized: false, special: true },
  }));
  return jsonText({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null, // prompts have <bos> already, and the chat template writes it
    decoder: null, // words joined by a blank
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '<pad>' },
  });
}

/**
 * tokenizer_config.json. `eos_token` is `<pad>`: Transformers makes that token special, so if it were a closing tag,
 * the tag would vanish from decoded text. The tokens that end a turn are in generation_config.json. `response_template`
 * parses a turn into a message (Transformers 5.13).
 */
export function tokenizerConfigFile(maxLength: number): string {
  return jsonText({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<bos>',
    eos_token: '<pad>',
    pad_token: '<pad>',
    unk_token: '<pad>',
    padding_side: 'left',
    model_max_length: maxLength,
    clean_up_tokenization_spaces: false,
    chat_template: CHAT_TEMPLATE,
    response_template: {
      defaults: { role: 'assistant' },
      start_anchor_pattern: String.raw`\Z`, // the prompt contains no part of the turn
      fields: {
        content: {},
        tool_calls: {
          open: '<call>',
          close: '</call>',
          repeats: true,
          content: 'text',
          transform: { type: 'function', function: { name: CALL_TOOL, arguments: { [CALL_ARGUMENT]: '{content}' } } },
        },
      },
    },
  });
}

/** The words of a WordLevel tokenizer.json, by id. Throws ProblemError on any other tokenizer, and on missing or repeated ids. */
export function readWords(bytes: Uint8Array): readonly string[] {
  const parsed = readJson(FILE_NAMES.tokenizer, bytes);
  return readWordLevel(isRecord(parsed) ? parsed : {}, FILE_NAMES.tokenizer).words;
}

/** Limit on the tokens of a turn. It is more than any grammar of this project allows. */
const MAX_TURN_TOKENS = 64;

/** generation_config.json. With it, `generate` writes one turn greedily and stops at a token that ends a turn. */
export function generationFile({ pad, bos, turnEnds }: SpecialIds): string {
  return jsonText({
    bos_token_id: bos,
    eos_token_id: turnEnds,
    pad_token_id: pad,
    do_sample: false,
    max_new_tokens: MAX_TURN_TOKENS,
  });
}

/** A word-level agent's only tool in chat messages. The turn `<call> a b </call>` calls it with two words, a and b. */
const CALL_TOOL = 'call';
/** The name of that tool's only argument, the words of the call. */
const CALL_ARGUMENT = 'words';

/**
 * chat_template.jinja. It writes user messages and the agent's turns unchanged, and puts a tool's answer between
 * `<obs>` and `</obs>`, each after a blank. The text of a message never depends on later messages, so sampled tokens
 * stay valid and only new text has to be tokenized. There is no generation prompt, because the agent's turn begins
 * directly after the environment's. Tools are not listed, because training never listed them. Tools and arguments with
 * other names are written out, so that no part of a message is lost.
 */
export const CHAT_TEMPLATE = [
  '<bos>',
  '{%- for message in messages %}',
  "{%- if message.role == 'tool' %} <obs>",
  '{%- if message.content %} {{ message.content }}{% endif %} </obs>',
  '{%- else %}',
  '{%- if message.content %} {{ message.content }}{% endif %}',
  '{%- for tool_call in message.tool_calls or [] %}',
  '{%- set called = tool_call.function or tool_call %} <call>',
  `{%- if called.name != '${CALL_TOOL}' %} {{ called.name }}{% endif %}`,
  '{%- if called.arguments is string %} {{ called.arguments }}',
  '{%- else %}{% for name, value in (called.arguments or {}).items() %}',
  `{%- if name != '${CALL_ARGUMENT}' %} {{ name }}{% endif %} {{ value }}`,
  '{%- endfor %}{% endif %} </call>',
  '{%- endfor %}',
  '{%- endif %}',
  '{%- endfor %}',
].join('\n');

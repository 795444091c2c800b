import { isRecord, jsonText, readJson } from '../formats/jsonFile.ts';
import { readWordLevel } from '../text/wordLevel.ts';
import { CALL_ARGUMENT, CALL_TOOL, CHAT_TEMPLATE } from './chatTemplateFile.ts';
import { FILES } from './checkpointFolder.ts';

/** What ends a turn of the agent: there is no token that does nothing else. */
const END_OF_TURN = ['</call>', '</answer>'] as const;
/** Never written by the agent or its environment: left out of text where special tokens are skipped. */
const SPECIAL = ['<pad>', '<bos>'] as const;

/** Ids that a model's files name. */
export interface SpecialIds {
  readonly pad: number;
  readonly bos: number | null; // null: nothing opens a text but what its chat template writes
  readonly ends: readonly number[]; // of a turn
}

/** Those of a word-level vocabulary. */
export function wordIds(words: readonly string[]): SpecialIds {
  const [pad = 0, bos = 1] = idsOf(words, SPECIAL);
  return { pad, bos, ends: idsOf(words, END_OF_TURN) };
}

/** Ids of words that are there. */
function idsOf(words: readonly string[], wanted: readonly string[]): number[] {
  return wanted.map((word) => words.indexOf(word)).filter((id) => id >= 0);
}

/**
 * tokenizer.json: a word a token, split at blanks. Tags such as `<call>` are words like any other: readers that skip special tokens
 * before they pay would never see them. A word outside the vocabulary becomes `<pad>`, which no episode holds: there is no
 * embedding for an unknown word, and a tokenizer without one refuses the text, the probes of other programs' checks included.
 */
export function tokenizerFile(words: readonly string[]): string {
  const added = SPECIAL.map((content) => ({
    ...{ id: words.indexOf(content), content, single_word: false },
    ...{ lstrip: false, rstrip: false, normalized: false, special: true },
  }));
  return jsonText({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null, // the chat template writes <bos>, and a prompt has it
    decoder: null, // words joined by a blank
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '<pad>' },
  });
}

/**
 * tokenizer_config.json. The end token is named `<pad>`: Transformers makes the one named here special, so a closing tag would vanish from
 * decoded text; what ends a turn stands in generation_config.json. `response_template` reads a turn back as a message (Transformers 5.13).
 */
export function tokenizerConfigFile(longest: number): string {
  return jsonText({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<bos>',
    eos_token: '<pad>',
    pad_token: '<pad>',
    unk_token: '<pad>',
    padding_side: 'left',
    model_max_length: longest,
    clean_up_tokenization_spaces: false,
    chat_template: CHAT_TEMPLATE,
    response_template: {
      defaults: { role: 'assistant' },
      start_anchor_pattern: String.raw`\Z`, // no part of a turn stands in the prompt
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

/** The words of a WordLevel tokenizer.json, by id. Throws ProblemError on any other kind of tokenizer, and on ids that leave holes or come twice. */
export function readWords(bytes: Uint8Array): readonly string[] {
  const read = readJson(FILES.tokenizer, bytes);
  return readWordLevel(isRecord(read) ? read : {}, FILES.tokenizer).words;
}

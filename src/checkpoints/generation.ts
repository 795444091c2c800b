import { jsonText } from '../formats/json.ts';
import { END_OF_TURN, idsOf } from './tokenizer.ts';

/** Most words of a turn: more than any grammar of this project allows. */
const LONGEST_TURN = 64;

/** generation_config.json: `generate` writes one turn, greedily, and stops at the tag that closes it. */
export function generationFile(words: readonly string[]): string {
  const [pad = 0, bos = 1] = idsOf(words, ['<pad>', '<bos>']);
  return jsonText({
    bos_token_id: bos,
    eos_token_id: idsOf(words, END_OF_TURN),
    pad_token_id: pad,
    do_sample: false,
    max_new_tokens: LONGEST_TURN,
  });
}

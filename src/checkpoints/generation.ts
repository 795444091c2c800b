import { jsonText } from '../formats/jsonFile.ts';
import type { SpecialIds } from './tokenizer.ts';

/** Most words of a turn: more than any grammar of this project allows. */
const LONGEST_TURN = 64;

/** generation_config.json: `generate` writes one turn, greedily, and stops at what ends it. */
export function generationFile({ pad, bos, ends }: SpecialIds): string {
  return jsonText({
    bos_token_id: bos,
    eos_token_id: ends,
    pad_token_id: pad,
    do_sample: false,
    max_new_tokens: LONGEST_TURN,
  });
}

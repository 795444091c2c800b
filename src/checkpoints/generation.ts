import { jsonText } from '../formats/jsonFile.ts';
import type { SpecialIds } from './tokenizer.ts';

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

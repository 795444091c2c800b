import type { Grammar } from '../../../domain/tokens.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { write } from '../../../gpu/tensor.ts';
import type { TextTensors } from './textTensors.ts';

/**
 * Uploads which tokens are legal in each state, and after which of them a row stays in the state and goes on with its
 * turn. After any other token the row waits until its next state is known here: so two bits per token are enough for
 * the device, and no table of states.
 */
export function writeGrammar(gpu: Gpu, { legal, stays }: TextTensors, grammar: Grammar): void {
  const { next, stop } = grammar;
  write(gpu, legal, bitsOf(grammar, (at) => next[at]! >= 0)); // prettier-ignore
  write(gpu, stays, bitsOf(grammar, (at, state) => next[at] === state && stop[state] === 0)); // prettier-ignore
}

/** (states, ⌈V/32⌉) one bit per token; `isSet` also gets the index of the token in the grammar's table. */
function bitsOf({ states, vocabulary }: Grammar, isSet: (at: number, state: number) => boolean): Uint32Array {
  const words = Math.ceil(vocabulary / 32);
  const bits = new Uint32Array(states * words);
  for (let state = 0; state < states; state++) {
    for (let v = 0; v < vocabulary; v++) {
      const word = state * words + (v >>> 5);
      if (isSet(state * vocabulary + v, state)) bits[word] = bits[word]! | (1 << (v & 31));
    }
  }
  return bits;
}

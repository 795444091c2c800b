import type { Current } from '../run/current.ts';
import type { Pointed } from '../address/hash.ts';

/**
 * What an address points at and the batch in view has not, a sentence each, with what is shown instead; none before there is a
 * batch, and none once the reader has chosen something else.
 */
export function beyond(pointed: Pointed | null, chosen: Pointed, current: Current): string[] {
  const { batch, rollout } = current;
  if (!pointed || batch.rows === 0) return [];
  const still = (part: keyof Pointed) => pointed[part] !== null && pointed[part] === chosen[part];
  const found: string[] = [];
  if (pointed.row >= batch.rows) {
    if (still('row'))
      found.push(`rollout: got ${pointed.row}, the batch in view has 0 to ${batch.rows - 1}; shown is 0.`);
    return found;
  }
  const turns = rollout.turns.map(({ turn }) => turn);
  if (still('turn') && !turns.includes(pointed.turn ?? 0)) {
    const last = turns.at(-1) ?? 0;
    found.push(`turn: got ${pointed.turn}, this rollout has ${turns[0] ?? 0} to ${last}; its end is shown.`);
  }
  if (still('token') && (pointed.token ?? 0) >= rollout.words.length) {
    found.push(`token: got ${pointed.token}, this rollout has 0 to ${rollout.words.length - 1}; none is chosen.`);
  }
  return found;
}

import type { Current } from '../run/currentRollout.ts';
import type { Pointed } from '../address/hash.ts';

/** How far the run on this page is. */
export interface Reached {
  readonly update: number | null; // null: there is no run, a recording or an example is in view
  readonly updates: number; // it ends after
}

/**
 * What an address points at and the batch in view has not, a sentence each, with what is shown instead; none before there is a
 * batch, and none once the reader has chosen something else.
 */
export function beyond(pointed: Pointed | null, chosen: Pointed, current: Current, reached: Reached): string[] {
  const { batch, rollout } = current;
  if (!pointed) return [];
  const still = (part: keyof Pointed) => pointed[part] !== null && pointed[part] === chosen[part];
  const isThere = reached.update !== null && batch.update === pointed.held;
  // rollout, turn and token are of that update, not of the one in view
  if (still('held') && !isThere) return [`update ${pointed.held}: ${whyNot(pointed.held ?? 0, reached)}`];
  if (batch.rows === 0) return [];
  const inRecording = reached.update === null && batch.update === pointed.recorded;
  if (still('recorded') && reached.update === null && !inRecording) {
    return [`recorded: the recording has no update ${pointed.recorded}. Shown is update ${batch.update}.`];
  }
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

/** Why the rollouts of an update are not in view, and what brings them. */
function whyNot(held: number, { update, updates }: Reached): string {
  if (held > updates) return `the run ends after update ${updates}. Set Updates to ${held} or more.`;
  if (update === null) {
    return `nothing has been trained here yet. Run training: at update ${held} you see its rollouts, with what the link chose.`;
  }
  if (update < held) return `the run is at update ${update}. Go on: at update ${held} its rollouts are shown.`;
  return `the run no longer keeps its rollouts. Other rollouts are shown.`;
}

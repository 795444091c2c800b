import type { Current } from '../run/currentRollout.ts';
import type { Pointed } from '../address/hash.ts';

/** How far the run on this page is. */
export interface RunPosition {
  readonly update: number | null; // null: there is no run, a recording or an example is in view
  readonly updates: number; // it ends after
}

/**
 * Targets of a link that aren't in the batch in view: one sentence for each, which also says what is shown instead. Empty before
 * there is a batch, and once the reader has chosen something else.
 */
export function missingTargets(
  pointed: Pointed | null,
  chosen: Pointed,
  current: Current,
  reached: RunPosition,
): string[] {
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
      found.push(`rollout ${pointed.row} isn’t in this batch, which has 0 to ${batch.rows - 1}. Rollout 0 is shown.`);
    return found;
  }
  const turns = rollout.turns.map(({ turn }) => turn);
  if (still('turn') && !turns.includes(pointed.turn ?? 0)) {
    const last = turns.at(-1) ?? 0;
    found.push(`turn ${pointed.turn} isn’t in this rollout, which has ${turns[0] ?? 0} to ${last}. Its end is shown.`);
  }
  if (still('token') && (pointed.token ?? 0) >= rollout.words.length) {
    found.push(
      `token ${pointed.token} isn’t in this rollout, which has 0 to ${rollout.words.length - 1}. No token is selected.`,
    );
  }
  return found;
}

/** Why the rollouts of an update are not in view, and what brings them. */
function whyNot(held: number, { update, updates }: RunPosition): string {
  if (held > updates) return `the run ends after update ${updates}. Set Updates to ${held} or more.`;
  if (update === null) {
    return `nothing has been trained here yet. Run training: at update ${held} the page shows the rollout that the link points to.`;
  }
  if (update < held)
    return `the run is at update ${update}. Continue training: at update ${held} its rollouts are shown.`;
  return `the run no longer keeps its rollouts. Other rollouts are shown.`;
}

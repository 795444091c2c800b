import { checkpointBytes, nonFinite, type Checkpoint } from './checkpoint.ts';
import type { RunEvent } from './protocol.ts';

/** A checkpoint is handed out at most this often while a run goes on, and only when it takes no more than so many bytes. */
const EVERY_MS = 5000;
const MOST_BYTES = 48 * 2 ** 20;

/** What a run falls back on: its last state in which every number was finite. */
export interface Lifeline {
  readonly last: () => Checkpoint | null;
  /** Makes it the one to fall back on, unless something in it is not finite: then names that. '' when it was taken. */
  readonly take: (checkpoint: Checkpoint) => string;
  /** Hands the last one out as an event, when it is time to. */
  readonly offer: () => void;
  /** Hands it out whatever the time, unless that was done or the run has not begun. */
  readonly hand: () => void;
}

/** A lifeline with nothing on it. `post` gets checkpoints as events; `now` is in ms. */
export function openLifeline(post: (event: RunEvent) => void, now: () => number): Lifeline {
  let last: Checkpoint | null = null;
  let handed = 0; // update of the one handed out last
  let at = now();
  const hand = () => {
    if (!last || last.progress.update === handed) return;
    handed = last.progress.update;
    at = now();
    post({ type: 'checkpoint', ...outcome(last) });
  };
  return {
    last: () => last,
    take(checkpoint) {
      const culprit = nonFinite(checkpoint.networks);
      if (!culprit) last = checkpoint;
      return culprit;
    },
    offer: () => {
      if (now() - at >= EVERY_MS) hand();
    },
    hand,
  };
}

function outcome(checkpoint: Checkpoint): { readonly checkpoint: Checkpoint | null; readonly refused: string } {
  const bytes = checkpointBytes(checkpoint);
  const mib = (n: number) => `${(n / 2 ** 20).toFixed(0)} MiB`;
  if (checkpoint.begun.rewardModel === 'on') {
    return { checkpoint: null, refused: 'not saved: runs with a reward model are not' };
  }
  if (bytes > MOST_BYTES) {
    const refused = `not saved: weights and moments take ${mib(bytes)}, more than ${mib(MOST_BYTES)}`;
    return { checkpoint: null, refused };
  }
  return { checkpoint, refused: '' };
}

import { checkpointBytes, checkpointOf, nonFinite, type Checkpoint } from '../runs/checkpoint.ts';
import type { Attempt } from '../domain/preferences.ts';
import { hasBegun } from '../runs/progressText.ts';
import { withChoice } from '../rl/rewardModel.ts';
import type { RunEvent } from '../wire/events.ts';

/** While a run trains, posting its checkpoints takes at most 1/SHARE of its time. If the last one was posted longer ago than OVERDUE_MS, the next is posted anyway. */
const SHARE = 20;
const OVERDUE_MS = 5000;
/** A larger checkpoint stays in the page's memory and is not saved. */
const MOST_BYTES = 48 * 2 ** 20;
/** The limit for adapters on a base model: they may be larger, because an update takes minutes. Adapters of rank 32 for 135 M parameters take 150 MiB. */
const MOST_BYTES_BESIDE = 256 * 2 ** 20;

/** The checkpoint a run returns to after a number that is not finite: its last state in which every number was finite. */
export interface FallbackCheckpoint {
  readonly last: () => Checkpoint | null;
  /** Makes this the checkpoint to return to and returns ''. If a number in it is not finite, keeps the old one and returns the name of the tensor. */
  readonly take: (checkpoint: Checkpoint) => string;
  /** Adds a person's choice between two rollouts to the checkpoint's reward model, and posts the checkpoint at once. */
  readonly taught: (better: Attempt, worse: Attempt) => void;
  /** Posts the last checkpoint as an event if that costs little time. Call it after each update or step of imitation. */
  readonly offer: () => void;
  /** Posts the last checkpoint whatever it costs, unless it was posted before or the run has not begun. */
  readonly hand: () => void;
}

/** Makes a fallback without a checkpoint. `post` gets checkpoints as events; `now` is in ms. */
export function openFallback(post: (event: RunEvent) => void, now: () => number): FallbackCheckpoint {
  let last: Checkpoint | null = null;
  let handed: Checkpoint | null = null; // the one that was posted last
  let [at, cost] = [now(), 0]; // when that was, and what it took, in ms
  const hand = () => {
    if (!last || last === handed || !hasBegun(last.progress)) return;
    handed = last;
    at = now();
    post({ type: 'checkpoint', ...outcome(last) });
    cost = now() - at;
  };
  return {
    last: () => last,
    take(checkpoint) {
      const culprit = nonFinite(checkpoint);
      if (!culprit) last = checkpoint;
      return culprit;
    },
    taught(better, worse) {
      if (!last?.rewardModel) return;
      const { network, memory } = last.rewardModel;
      last = checkpointOf({ ...last, rewardModel: { network, memory: withChoice(memory, { better, worse }) } });
      hand();
    },
    offer: () => {
      if (now() - at >= Math.min(OVERDUE_MS, SHARE * cost)) hand();
    },
    hand,
  };
}

function outcome(checkpoint: Checkpoint): { readonly checkpoint: Checkpoint; readonly refused: string } {
  const bytes = checkpointBytes(checkpoint);
  const most = checkpoint.base ? MOST_BYTES_BESIDE : MOST_BYTES;
  const mib = (n: number) => `${(n / 2 ** 20).toFixed(0)} MiB`;
  if (bytes > most) {
    const refused = `not saved: weights and moments take ${mib(bytes)}, more than ${mib(most)}`;
    return { checkpoint, refused };
  }
  return { checkpoint, refused: '' };
}

import { checkpointBytes, checkpointOf, firstNonFinite, type Checkpoint } from '../runs/checkpoint.ts';
import type { Attempt } from '../domain/preferences.ts';
import { hasBegun } from '../runs/progressText.ts';
import { withChoice } from '../rl/rewardModel.ts';
import type { RunEvent } from '../wire/commands.ts';

/**
 * While a run trains, the time between two postings of its checkpoint is at least this multiple of the time that a
 * posting takes.
 */
const INTERVAL_PER_COST = 20;
/** If the last posting was longer ago than this, the next checkpoint is posted whatever it costs. */
const OVERDUE_MS = 5000;
/** Size limit: a larger checkpoint is not saved and only stays in the page's memory. */
const MAX_BYTES = 48 * 2 ** 20;
/**
 * Size limit for adapters on a base model. It is larger because an update takes minutes. Adapters of rank 32 for 135 M
 * parameters take 150 MiB.
 */
const MAX_ADAPTER_BYTES = 256 * 2 ** 20;

/**
 * The checkpoint a run returns to after a number that is not finite, or after a fault of its environment: its last
 * state in which every number was finite.
 */
export interface FallbackCheckpoint {
  readonly last: () => Checkpoint | null;
  /**
   * Replaces the checkpoint to return to by this one and returns ''. If a number in the new checkpoint is not finite,
   * keeps the old checkpoint and returns the name of the tensor with that number.
   */
  readonly replaceWith: (checkpoint: Checkpoint) => string;
  /** Adds a person's choice between two rollouts to the checkpoint's reward model, and posts the checkpoint at once. */
  readonly addChoice: (better: Attempt, worse: Attempt) => void;
  /**
   * Posts the last checkpoint as an event if that costs little time. Call it after each update or step of imitation.
   */
  readonly postIfCheap: () => void;
  /** Posts the last checkpoint whatever it costs, unless it was posted before or the run has not begun. */
  readonly postNow: () => void;
}

/** Makes a fallback without a checkpoint. `post` gets checkpoints as events; `now` is in ms. */
export function openFallback(post: (event: RunEvent) => void, now: () => number): FallbackCheckpoint {
  let last: Checkpoint | null = null;
  let postedCheckpoint: Checkpoint | null = null; // the last posted checkpoint
  let [postedAt, postingMs] = [now(), 0]; // when it was posted and how long that took, in ms
  const postNow = () => {
    if (!last || last === postedCheckpoint || !hasBegun(last.progress)) return;
    postedCheckpoint = last;
    postedAt = now();
    post({ type: 'checkpoint', ...withRefusal(last) });
    postingMs = now() - postedAt;
  };
  return {
    last: () => last,
    replaceWith(checkpoint) {
      const culprit = firstNonFinite(checkpoint);
      if (!culprit) last = checkpoint;
      return culprit;
    },
    addChoice(better, worse) {
      if (!last?.rewardModel) return;
      const { network, memory } = last.rewardModel;
      last = checkpointOf({ ...last, rewardModel: { network, memory: withChoice(memory, { better, worse }) } });
      postNow();
    },
    postIfCheap: () => {
      if (now() - postedAt >= Math.min(OVERDUE_MS, INTERVAL_PER_COST * postingMs)) postNow();
    },
    postNow,
  };
}

function withRefusal(checkpoint: Checkpoint): { readonly checkpoint: Checkpoint; readonly refused: string } {
  const bytes = checkpointBytes(checkpoint);
  const maxBytes = checkpoint.base ? MAX_ADAPTER_BYTES : MAX_BYTES;
  const mib = (n: number) => `${(n / 2 ** 20).toFixed(0)} MiB`;
  if (bytes > maxBytes) {
    const refused = `not saved: weights and moments take ${mib(bytes)}, more than ${mib(maxBytes)}`;
    return { checkpoint, refused };
  }
  return { checkpoint, refused: '' };
}

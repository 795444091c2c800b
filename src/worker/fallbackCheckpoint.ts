import { checkpointBytes, checkpointOf, nonFinite, type Checkpoint } from '../runs/checkpoint.ts';
import type { Attempt } from '../domain/preferences.ts';
import { hasBegun } from '../runs/standing.ts';
import { withChoice } from '../rl/rewardModel.ts';
import type { RunEvent } from '../wire/events.ts';

/** While a run goes on, handing out its checkpoints takes at most a twentieth of its time, unless one is this long overdue. */
const SHARE = 20;
const OVERDUE_MS = 5000;
/** A checkpoint of more bytes is for the page's memory, not for keeping. */
const MOST_BYTES = 48 * 2 ** 20;
/** Beside a base there is one in minutes: adapters of rank 32 beside 135 M parameters take 150 MiB. */
const MOST_BYTES_BESIDE = 256 * 2 ** 20;

/** The checkpoint a run returns to after a number that is not finite: its last state in which every number was finite. */
export interface FallbackCheckpoint {
  readonly last: () => Checkpoint | null;
  /** Makes it the one to fall back on, unless something in it is not finite: then names that. '' when it was taken. */
  readonly take: (checkpoint: Checkpoint) => string;
  /** A person's choice since then, to the reward model, is part of it from now on; it is handed out at once. */
  readonly taught: (better: Attempt, worse: Attempt) => void;
  /** Hands the last one out as an event, after each update or step of imitation where that costs little. */
  readonly offer: () => void;
  /** Hands it out whatever the time, unless that was done or the run has not begun. */
  readonly hand: () => void;
}

/** A fallback that holds no checkpoint yet. `post` gets checkpoints as events; `now` is in ms. */
export function openFallback(post: (event: RunEvent) => void, now: () => number): FallbackCheckpoint {
  let last: Checkpoint | null = null;
  let handed: Checkpoint | null = null; // the one handed out last
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

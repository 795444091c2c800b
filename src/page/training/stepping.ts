import type { BatchView } from '../../domain/batch.ts';
import { shownRollout } from '../view/currentRollout.ts';
import { useLive } from '../view/liveStore.ts';
import type { Rollout } from '../rollout/readRollout.ts';
import { selectRow, useSelection, type StepScale } from '../view/selectionStore.ts';
import { step, stepOptimizer } from './transport.ts';

/** Goes one step forwards or back at the chosen scale. Going back only shows what was recorded; it undoes no training. */
export function stepBy(scale: StepScale, by: 1 | -1): void {
  if (scale === 'token') revealTo(by, (rollout) => rollout.words.map((_, t) => t + 1));
  else if (scale === 'turn') revealTo(by, turnEnds);
  else if (scale === 'rollout') toRollout(useSelection.getState().row + by);
  else if (scale === 'batch' || by < 0) toBatch(by);
  else train(scale === 'optimizer' ? stepOptimizer : step);
}

/** Shows the next or previous kept batch. After the newest it trains one more update, or follows the run if it is training. */
export function toBatch(by: 1 | -1): void {
  const { updates } = useLive.getState().batchesInWorker;
  const at = updates.indexOf(useLive.getState().batch.update);
  const next = at < 0 ? undefined : updates[at + by];
  if (next !== undefined) useSelection.setState({ shownUpdate: next, revealed: null });
  else if (by > 0 && useLive.getState().running) useSelection.setState({ shownUpdate: null, revealed: null });
  else if (by > 0) train(step);
}

function train(trainStep: () => void): void {
  useSelection.setState({ shownUpdate: null, revealed: null });
  trainStep();
}

/** The number of tokens up to the end of each turn. The prompt counts to the first turn. */
function turnEnds({ turns }: Rollout): number[] {
  return turns.filter(({ turn }) => turn > 0).map(({ spans }) => (spans.at(-1)?.tokens.at(-1) ?? 0) + 1);
}

/** Shows the rollout in view up to its next or previous stop, or goes on to the next or previous rollout. */
function revealTo(by: 1 | -1, stopsOf: (rollout: Rollout) => readonly number[]): void {
  const { row, revealed, token } = useSelection.getState();
  const { rollout, batch } = shownRollout(row);
  const stops = stopsOf(rollout);
  const shown = revealed ?? (token === null ? (by > 0 ? 0 : rollout.words.length) : token + 1);
  const stop = by > 0 ? stops.find((end) => end > shown) : stops.findLast((end) => end < shown);
  if (stop !== undefined) {
    reveal(rollout, batch, stop);
    return;
  }
  const next = row + by;
  if (next < 0 || next >= batch.rows) return;
  const other = shownRollout(next).rollout;
  reveal(other, batch, (by > 0 ? stopsOf(other)[0] : undefined) ?? other.words.length);
}

function reveal(rollout: Rollout, { length, turns }: BatchView, tokens: number): void {
  const last = Math.max(0, tokens - 1);
  selectRow(rollout.row);
  useSelection.setState({ revealed: tokens, token: last, turn: turns[rollout.row * length + last] ?? null });
}

/** Shows a rollout of the batch. Past either end it wraps around. */
function toRollout(row: number): void {
  const { batch } = useLive.getState();
  selectRow((row + batch.rows) % (batch.rows || 1));
}

import type { BatchView } from '../../domain/batch.ts';
import { currentOf } from './currentRollout.ts';
import { live, useLive } from './liveStore.ts';
import type { Rollout } from '../rollout/readRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';
import type { StepScale } from './stepScales.ts';
import { step, stepOptimizer } from './transport.ts';

/** One step forwards or back at the chosen scale. Nothing that was learned is unlearned: back goes through the record. */
export function stepBy(scale: StepScale, by: 1 | -1): void {
  if (scale === 'token') walk(by, (rollout) => rollout.words.map((_, t) => t + 1));
  else if (scale === 'turn') walk(by, turnEnds);
  else if (scale === 'rollout') toRollout(useSelection.getState().row + by);
  else if (scale === 'batch' || by < 0) toBatch(by);
  else train(scale === 'optimizer' ? stepOptimizer : step);
}

/** Moves through the kept batches; past the newest it follows the run, which trains one more unless it is training anyway. */
export function toBatch(by: 1 | -1): void {
  const { updates } = live.kept;
  const at = updates.indexOf(live.batch.update);
  const next = at < 0 ? undefined : updates[at + by];
  if (next !== undefined) useSelection.setState({ shownUpdate: next, revealed: null });
  else if (by > 0 && useLive.getState().running) useSelection.setState({ shownUpdate: null, revealed: null });
  else if (by > 0) train(step);
}

function train(one: () => void): void {
  useSelection.setState({ shownUpdate: null, revealed: null });
  one();
}

/** Where each turn of a rollout ends, as a number of tokens; the prompt is shown with the first. */
function turnEnds({ turns }: Rollout): number[] {
  return turns.filter(({ turn }) => turn > 0).map(({ spans }) => (spans.at(-1)?.tokens.at(-1) ?? 0) + 1);
}

/** Shows the rollout in view up to its next stop, or to the one before. */
function walk(by: 1 | -1, stopsOf: (rollout: Rollout) => readonly number[]): void {
  const { row, revealed, token } = useSelection.getState();
  const { rollout, batch } = currentOf(useLive.getState().batchVersion, row);
  const stops = stopsOf(rollout);
  const shown = revealed ?? (token === null ? (by > 0 ? 0 : rollout.words.length) : token + 1);
  const stop = by > 0 ? stops.find((end) => end > shown) : stops.findLast((end) => end < shown);
  if (stop !== undefined) {
    reveal(rollout, batch, stop);
    return;
  }
  const next = row + by;
  if (next < 0 || next >= batch.rows) return;
  const other = currentOf(useLive.getState().batchVersion, next).rollout;
  reveal(other, batch, (by > 0 ? stopsOf(other)[0] : undefined) ?? other.words.length);
}

function reveal(rollout: Rollout, { length, turns }: BatchView, tokens: number): void {
  const last = Math.max(0, tokens - 1);
  useSelection.setState({
    row: rollout.row,
    revealed: tokens,
    token: last,
    turn: turns[rollout.row * length + last] ?? null,
  });
}

function toRollout(row: number): void {
  const { batch } = live;
  const to = (row + batch.rows) % (batch.rows || 1);
  useSelection.setState({ row: to, token: null, turn: null, revealed: null });
}

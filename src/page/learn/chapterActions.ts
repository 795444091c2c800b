import { useLive } from '../view/liveStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import { Role } from '../../domain/tokens.ts';
import { choosePreset, editKnobs, useConfig } from '../knobs/configStore.ts';
import { hardestPushedObservation } from './hardestPushedObservation.ts';
import { selectRow, selectToken, useSelection } from '../view/selectionStore.ts';
import { start, step } from '../training/transport.ts';

export function selectLargestAdvantage(): void {
  const { advantages, entropies } = useLive.getState().batch;
  // only tokens that the agent had a choice for: with the grammar a tag has entropy 0
  selectAt(indexOfLargest(advantages.map((a, i) => ((entropies[i] ?? 0) > 0.01 ? a : -Infinity))));
}

/** Selects the agent's first token in the episode with the most turns. */
export function selectLongestEpisode(): void {
  const { episodes, roles, length } = useLive.getState().batch;
  const [longest] = episodes.toSorted((a, b) => b.turns - a.turns);
  if (longest) selectAt(roles.indexOf(Role.action, longest.row * length));
}

/** Selects the observation token that the update pushed hardest; does nothing if none was pushed. */
export function selectHardestPushedObservation(): void {
  selectAt(hardestPushedObservation(useLive.getState().batch));
}

/**
 * More than one step may be needed: an update that was paused midway still uses the old knobs, and one whose rollouts
 * all got the same reward pushes nothing.
 */
const MAX_STEPS = 6;

/**
 * Steps updates until one with the loss mask off has pushed an observation token, and selects the one pushed hardest.
 * Usually one update is enough; it gives up after `MAX_STEPS`. Returns a function that cancels.
 */
export function stepToPushedObservation(): () => void {
  let { batch: previousBatch } = useLive.getState();
  let steps = 1;
  const stop = useLive.subscribe(({ running, stepping }) => {
    if (useLive.getState().batch === previousBatch || useLive.getState().isExample) return;
    const isObservationPushed =
      useLive.getState().batchConfig?.lossMask === 'off' && hardestPushedObservation(useLive.getState().batch) >= 0;
    if (!isObservationPushed && steps < MAX_STEPS) {
      if (running || stepping) return; // wait until the update under way is done
      previousBatch = useLive.getState().batch;
      steps++;
      step();
      return;
    }
    stop();
    selectHardestPushedObservation();
  });
  step();
  return stop;
}

/** Takes the page's seed and backend, unless `changes` has others. Trains at once with `run`, otherwise paused. */
export function startPreset(preset: PresetName, changes: Partial<RunConfig> = {}, run = true): void {
  const { backend, seed } = useConfig.getState().wanted;
  choosePreset(preset);
  editKnobs({ backend, seed, ...changes });
  useSelection.setState({ shownUpdate: null, revealed: null, row: 0, token: null, turn: null });
  start(run);
}

/** Selects the token at a flat index of the batch, and its rollout; −1 does nothing. */
function selectAt(index: number): void {
  const { length, turns } = useLive.getState().batch;
  if (index < 0 || length === 0) return;
  selectRow(Math.floor(index / length));
  selectToken(index % length, turns[index] ?? null);
}

/** Index of the largest value; −1 if there are none. */
function indexOfLargest(values: Float32Array): number {
  return values.reduce(
    (best, value, i) => (value > (values[best] ?? -Infinity) ? i : best),
    values.length > 0 ? 0 : -1,
  );
}

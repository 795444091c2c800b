import { live, useLive } from '../run/liveStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { hardestObservation } from './hardestObservation.ts';
import { selectRow, selectToken, useSelection } from '../shell/selectionStore.ts';
import { start, step } from '../run/transport.ts';

/** Chooses the rollout whose advantage is the largest of the batch. */
export function showStandingOut(): void {
  const { advantages, entropies } = live.batch;
  // of its tokens one that was a choice: under the grammar a tag is none
  choose(largest(advantages.map((a, i) => ((entropies[i] ?? 0) > 0.01 ? a : -Infinity))));
}

/** Chooses the word of the tool that the update pushed hardest; none where it pushed none. */
export function pointAtHardestPush(): void {
  choose(hardestObservation(live.batch));
}

const MOST_STEPS = 6; // one that a pause had stopped is still of the old knobs, and one whose rollouts were all paid alike pushes nothing

/**
 * Takes updates until one with the masks off has pushed a word of the tool, mostly one, and points at the one it pushed hardest.
 * Returns a function that stops waiting for it.
 */
export function stepToDamage(): () => void {
  let { batch: old } = live;
  let steps = 1;
  const stop = useLive.subscribe(({ running, stepping }) => {
    if (live.batch === old || live.isExample) return;
    const found = live.batchConfig?.lossMask === 'off' && hardestObservation(live.batch) >= 0;
    if (!found && steps < MOST_STEPS) {
      if (running || stepping) return; // the one under way is over first
      old = live.batch;
      steps++;
      step();
      return;
    }
    stop();
    pointAtHardestPush();
  });
  step();
  return stop;
}

/** Starts a preset on the seed and the backend of the page, with some of its knobs changed; with `run` it goes on at once. */
export function begin(preset: PresetName, changes: Partial<RunConfig> = {}, run = true): void {
  const { backend, seed } = useConfig.getState().wanted;
  choosePreset(preset);
  edit({ backend, seed, ...changes });
  useSelection.setState({ shownUpdate: null, revealed: null, row: 0, token: null, turn: null });
  start(run);
}

/** Chooses the rollout and the token that an index into the batch names; −1 chooses nothing. */
function choose(at: number): void {
  const { length, turns } = live.batch;
  if (at < 0 || length === 0) return;
  selectRow(Math.floor(at / length));
  selectToken(at % length, turns[at] ?? null);
}

function largest(values: Float32Array): number {
  return values.reduce(
    (best, value, i) => (value > (values[best] ?? -Infinity) ? i : best),
    values.length > 0 ? 0 : -1,
  );
}

import { live } from '../run/liveStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { hardestObservation } from './hardestObservation.ts';
import { selectRow, selectToken, useSelection } from '../shell/selectionStore.ts';
import { start } from '../run/transport.ts';

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

/** Starts a preset on the seed and the backend of the page, with some of its knobs changed; with `run` it goes on at once. */
export function begin(preset: PresetName, changes: Partial<RunConfig> = {}, run = true): void {
  const { backend, seed } = useConfig.getState().wanted;
  choosePreset(preset);
  edit({ backend, seed, ...changes });
  useSelection.setState({ held: null, revealed: null, row: 0, token: null, turn: null });
  start(run);
}

/** Chooses the rollout and the token that an index into the batch names; −1 chooses nothing. */
export function choose(at: number): void {
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

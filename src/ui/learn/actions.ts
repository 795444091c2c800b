import type { RunConfig } from '../../config/fields.ts';
import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { live } from '../run/liveStore.ts';
import { pause as pauseRecording } from '../replay/player.ts';
import { selectRow, selectToken, useSelection } from '../shell/selectionStore.ts';
import { stepBy } from '../run/stepping.ts';
import { start, step } from '../run/transport.ts';

/** Shows the rollout in view a turn further. */
export function nextTurn(): void {
  pauseRecording();
  useSelection.setState({ channel: 'mask', scale: 'turn' });
  stepBy('turn', 1);
}

/** Chooses the rollout whose advantage is the largest of the batch, and its colours. */
export function showStandingOut(): void {
  pauseRecording();
  useSelection.setState({ channel: 'advantage', revealed: null });
  const { advantages, entropies } = live.batch;
  // of its tokens one that was a choice: under the grammar a tag is none
  choose(largest(advantages.map((a, i) => ((entropies[i] ?? 0) > 0.01 ? a : -Infinity))));
}

/** Narrows the clip range and learns once more. */
export function clipTightly(): void {
  tryOut({ clipLow: 0.02, clipHigh: 0.02 });
  useSelection.setState({ channel: 'ratio' });
}

/** Turns the KL penalty on and learns once more. */
export function holdToTheStart(): void {
  tryOut({ klCoef: 0.5 });
  useSelection.setState({ channel: 'kl' });
}

/** Starts the number hunt with a critic. */
export function startWithCritic(): void {
  begin('number-hunt-ppo');
  useSelection.setState({ channel: 'value' });
}

/** Starts the preset that collapses. */
export function fallIntoTheTrap(): void {
  begin('break-it');
  useSelection.setState({ curves: 'health' });
}

/** Chooses the token that was paid most. */
export function showWhatWasPaid(): void {
  pauseRecording();
  useSelection.setState({ channel: 'reward', revealed: null });
  choose(largest(live.batch.parts.process ?? live.batch.rewards));
}

/** One update, then still. */
export function oneUpdate(): void {
  useSelection.setState({ held: null, revealed: null });
  step();
}

/** Takes the knobs as they were before; a run goes back to its start where they need one. */
export function takeBack(before: RunConfig): void {
  const { applied } = useConfig.getState();
  edit(before);
  if (applied && applied.env !== before.env) start(false);
}

function tryOut(changes: Partial<RunConfig>): void {
  edit(changes);
  oneUpdate();
}

/** Starts a preset on the seed and the backend of the page, with some of its knobs changed; with `run` it goes on at once. */
export function begin(preset: Parameters<typeof choosePreset>[0], changes: Partial<RunConfig> = {}, run = true): void {
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

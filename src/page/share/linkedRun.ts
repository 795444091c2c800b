import { contradictions } from '../../config/contradictions.ts';
import { FIELDS, type RunConfig } from '../../config/fields.ts';
import { changedKnobs, isNonEmpty, type KnobChange } from '../../config/knobChange.ts';
import { replayableChanges } from '../../runs/change.ts';
import { changesText } from '../address/knobChanges.ts';
import { addressPlan, useConfig } from '../knobs/configStore.ts';
import { currentRun } from '../runs/liveRun.ts';
import { useLive } from '../view/liveStore.ts';

export interface LinkedRun {
  readonly startConfig: RunConfig;
  readonly changes: readonly KnobChange[]; // knobs that change while the run trains
}

/**
 * Why a link can't hold the run in progress. environment: a person wrote its environment. fork: it began with weights
 * of another run or of a model's file. lost: not all of its changes are known. long: its changes make the link too
 * long. person: a person's choices trained its reward model.
 */
export type Unlinkable = 'environment' | 'fork' | 'lost' | 'long' | 'person';

/** What a link holds of the run on the page; `unlinkable` if training it doesn't give the run in progress again. */
export type LinkableRun = LinkedRun & { readonly unlinkable?: Unlinkable };

/** Most characters that the changes may take in a link. Mail programs and chats cut longer links. */
const MAX_CHANGES_CHARACTERS = 1500;

/** If a link can't hold the run in progress, it is a new run with the current knobs; `unlinkable` says why. */
export function linkedRun(): LinkableRun {
  const shown = addressPlan(useConfig.getState());
  const run = currentRun();
  const { session, preferences, update, phase } = useLive.getState();
  if (!run || useLive.getState().isExample || session === 'none') return shown;
  const freshRun = { startConfig: useConfig.getState().wanted, changes: [] };
  if (run.environment) return { ...freshRun, unlinkable: 'environment' };
  if (run.fork) return { ...freshRun, unlinkable: 'fork' };
  if ((preferences?.clicks ?? 0) > 0) return { ...freshRun, unlinkable: 'person' };
  const actedChanges = replayableChanges(run);
  if (!actedChanges) return { ...freshRun, unlinkable: 'lost' };
  const set = waitingKnobs(run.config, freshRun.startConfig);
  if (update === 0 && actedChanges.length === 0) return shown;
  const next = { update: phase === 'idle' ? update + 1 : update + 2, step: 0, set };
  const has = (one: KnobChange) => actedChanges.some((each) => each.update === one.update && each.step === one.step);
  const plannedChanges = shown.changes.filter((planned) => planned.update > update && !has(planned));
  const changes = [...actedChanges, ...(isNonEmpty(set) ? [next] : []), ...plannedChanges];
  if (changes.length === 0) return freshRun;
  if (changesText(changes).length > MAX_CHANGES_CHARACTERS) return { ...freshRun, unlinkable: 'long' };
  return { startConfig: run.begun, changes };
}

/** Knobs that the reader has changed but the run hasn't applied yet; it applies them when it continues. */
function waitingKnobs(config: RunConfig, wanted: RunConfig): Partial<RunConfig> {
  const set = changedKnobs(config, wanted, (name) => FIELDS[name].when !== 'restart');
  return contradictions({ ...config, ...set }).length > 0 ? {} : set;
}

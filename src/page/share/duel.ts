import { recordedPreset } from '../../config/recordings.ts';
import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import { currentRoute } from '../address/route.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useReplay } from '../view/player.ts';
import { isOwnRun } from '../stage/liveAgent.ts';
import { isOver, outcome, type Play, followedSeeds, playsOf, sidesOf } from '../stage/play.ts';
import { useStage, ALL_STEPS } from '../stage/stageStore.ts';
import type { ClipFrame } from './clipFrames.ts';

/** Two agents at the same task, at one step of their plays. */
export interface DuelMoment {
  readonly before: Play;
  readonly after: Play;
  readonly step: number; // of both plays
  readonly toolTrained: boolean; // the tool's tokens are in the loss too
}

const STEP_MS = 450; // each step is shown
const END_MS = 2600; // before the clip begins again

/**
 * The duel on the stage (two agents at one task), played to its end. Null on other screens, in a contest, and if the
 * stage shows one agent.
 */
export function duelInView(): DuelMoment | null {
  const { recording, preset } = useReplay.getState();
  const stage = useStage.getState();
  const shown = recordedPreset(useConfig.getState().preset);
  if (currentRoute() !== 'stage' || !recording || preset !== shown || stage.inContest) return null;
  const task = stage.task < followedSeeds(recording).length ? stage.task : 0;
  const { before, after } = sidesOf(playsOf(recording, task), recording, isOwnRun(), stage);
  return before && after && { before, after, step: ALL_STEPS, toolTrained: isToolTrained(recording.begun) };
}

const isToolTrained = (config: RunConfig) => !agentOnly(config, 'policyTokens');

/** A duel from its first token to the end of the longer play. */
export function duelFrames(duel: DuelMoment): readonly ClipFrame<DuelMoment>[] {
  const steps = Math.max(duel.before.stepEnds.length, duel.after.stepEnds.length);
  return Array.from({ length: steps + 1 }, (_, step) => ({
    moment: { ...duel, step },
    ms: step === steps ? END_MS : STEP_MS,
  }));
}

export const agentName = ({ update }: Play): string =>
  update === 0 ? 'Before training' : `After ${update} update${update === 1 ? '' : 's'}`;

/** The sentence over a duel: what both agents share, and at the end how the trained one did. */
export function duelHeadline({ before, after, step }: DuelMoment): string {
  if (!isOver(before, step) || !isOver(after, step)) return 'Same task, same random draws';
  return `${agentName(after)}: ${outcome(after.episode)}`;
}

import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { currentRoute } from '../address/route.ts';
import { counted, percent } from '../words/numberText.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import { turnInView } from '../view/currentRollout.ts';
import { useLive } from '../view/liveStore.ts';
import { useReplay } from '../view/player.ts';
import { useStage } from '../stage/stageStore.ts';
import { useSelection } from '../view/selectionStore.ts';

export interface Moment {
  readonly batch: BatchView;
  readonly episode: EpisodeView | undefined;
  readonly rollout: Rollout;
  readonly turn: number; // the board shows the task after this turn
  readonly shown: number; // number of tokens that are shown, from the start of the rollout
  readonly lastCurveUpdate: number;
  readonly whole: boolean; // the rollout is shown to its end
}

/** The whole rollout in row `wantedRow` of a batch, or in its first row if the batch has fewer rows. */
export function momentOf(
  batch: BatchView,
  vocabulary: readonly string[],
  wantedRow: number,
  lastCurveUpdate = batch.update,
): Moment {
  const row = wantedRow < batch.rows ? wantedRow : 0;
  const rollout = readRollout(batch, vocabulary, row);
  const episode = batch.episodes.find((each) => each.row === row);
  return {
    batch,
    episode,
    rollout,
    turn: episode?.turns ?? 0,
    shown: rollout.words.length,
    lastCurveUpdate,
    whole: true,
  };
}

/**
 * The rollout in view, up to the token that is shown; null if there is none. On the start screen: a rollout of the
 * update whose agent plays there.
 */
export function momentInView(): Moment | null {
  const onStage = currentRoute() === 'stage' ? momentOnStage() : null;
  if (onStage) return onStage;
  const { batch, vocabulary } = useLive.getState();
  if (batch.rows === 0) return null;
  const { row, turn, revealed } = useSelection.getState();
  return truncatedMoment(momentOf(batch, vocabulary, row), revealed ?? Infinity, turn);
}

/**
 * A rollout from the last recorded batch that isn't newer than the agent on the start screen, solved if possible. Null
 * if no recording is in view.
 */
function momentOnStage(): Moment | null {
  const { recording } = useReplay.getState();
  if (!recording || !useLive.getState().isExample) return null;
  const chosenUpdate = useStage.getState().chosenUpdate ?? Infinity;
  const recordedBatch = recording.batches.findLast(({ batch }) => batch.update <= Math.max(1, chosenUpdate));
  const solved = recordedBatch?.batch.episodes.find(({ success }) => success);
  return recordedBatch ? momentOf(recordedBatch.batch, recording.vocabulary, solved?.row ?? 0) : null;
}

/** Shows `tokens` tokens. The board shows the task after `chosenTurn`; if that is null or all is shown, after the last turn shown. */
export function truncatedMoment(moment: Moment, tokens: number, chosenTurn: number | null = null): Moment {
  const { batch, episode, rollout } = moment;
  const shown = Math.min(tokens, rollout.words.length);
  const whole = shown === rollout.words.length;
  const turnShown = turnInView({ batch, episode, rollout }, whole ? null : chosenTurn, whole ? null : shown);
  return { ...moment, shown, whole, turn: Math.min(turnShown, episode?.turns ?? turnShown) };
}

export interface CardWords {
  readonly headline: string;
  readonly success: string; // '' if there is no curve
}

/** The texts of a card. `success` is the curve of training success: x the update, y the share solved. */
export function cardWords(
  { episode, lastCurveUpdate, batch, whole, shown, rollout }: Moment,
  success: { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> },
): CardWords {
  const last = Array.from(success.x).findLastIndex((update) => update <= lastCurveUpdate);
  const [first, now] = [success.y[0], success.y[last]];
  const rate = last < 0 ? '' : last === 0 ? percent(now) : `${percent(first)} → ${percent(now)}`;
  return {
    headline: `Update ${batch.update}: ${ending()}`,
    success: rate && `Training success: ${rate}${last === 0 ? '' : ` (${counted(lastCurveUpdate, 'update')})`}`,
  };

  function ending(): string {
    if (!whole) return `${shown} of ${rollout.words.length} tokens`;
    if (!episode) return `${rollout.words.length} tokens`;
    return episode.success
      ? `solved in ${counted(episode.turns, 'turn')}`
      : `not solved in ${counted(episode.turns, 'turn')}`;
  }
}

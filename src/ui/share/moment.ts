import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { currentRoute } from '../address/route.ts';
import { counted } from '../parts/countText.ts';
import { percent } from '../parts/numberText.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import { turnInView } from '../run/currentRollout.ts';
import { live } from '../run/liveStore.ts';
import { useReplay } from '../replay/player.ts';
import { useStage } from '../stage/stageStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** What a picture card shows: a rollout up to a turn and a token, and the curve up to an update. */
export interface Moment {
  readonly batch: BatchView;
  readonly episode: EpisodeView | undefined;
  readonly rollout: Rollout;
  readonly turn: number; // the board is drawn after it
  readonly shown: number; // tokens of the rollout, from its start
  readonly until: number; // last update of the curve
  readonly whole: boolean; // the rollout is shown to its end
}

/** The rollout of a batch in row `row`, or the first where it has no such row, shown to its end. */
export function momentOf(
  batch: BatchView,
  vocabulary: readonly string[],
  wanted: number,
  until = batch.update,
): Moment {
  const row = wanted < batch.rows ? wanted : 0;
  const rollout = readRollout(batch, vocabulary, row);
  const episode = batch.episodes.find((each) => each.row === row);
  return { batch, episode, rollout, turn: episode?.turns ?? 0, shown: rollout.words.length, until, whole: true };
}

/** The rollout in view as far as it is shown; null before there is one. On the stage, one of the update whose agent plays there. */
export function momentInView(): Moment | null {
  const onStage = currentRoute() === 'stage' ? momentOnStage() : null;
  if (onStage) return onStage;
  const { batch, vocabulary } = live;
  if (batch.rows === 0) return null;
  const { row, turn, revealed } = useSelection.getState();
  return upTo(momentOf(batch, vocabulary, row), revealed ?? Infinity, turn);
}

/** A rollout of the recorded update next to the one on the stage, solved where one is; null where no recording is in view. */
function momentOnStage(): Moment | null {
  const { recording } = useReplay.getState();
  if (!recording || !live.isExample) return null;
  const at = useStage.getState().at ?? Infinity;
  const kept = recording.batches.findLast(({ batch }) => batch.update <= Math.max(1, at));
  const solved = kept?.batch.episodes.find(({ success }) => success);
  return kept ? momentOf(kept.batch, recording.vocabulary, solved?.row ?? 0) : null;
}

/** The same rollout with only its first tokens, and its board after the last turn that shows, or after a chosen one. */
export function upTo(moment: Moment, tokens: number, chosen: number | null = null): Moment {
  const { batch, episode, rollout } = moment;
  const shown = Math.min(tokens, rollout.words.length);
  const whole = shown === rollout.words.length;
  const seen = turnInView({ batch, episode, rollout }, chosen, whole ? null : shown);
  return { ...moment, shown, whole, turn: Math.min(seen, episode?.turns ?? seen) };
}

/** What a card says of its moment: how the rollout went, and how much of its tasks the agent solved while it trained. */
export interface CardWords {
  readonly headline: string;
  readonly success: string; // '' where there is no curve
}

/** The words of a card. `success`: by update, in training. */
export function cardWords(
  { episode, until, batch, whole, shown, rollout }: Moment,
  success: { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> },
): CardWords {
  const done = Array.from(success.x).findLastIndex((update) => update <= until);
  const [first, now] = [success.y[0], success.y[done]];
  const rate = done < 0 ? '' : done === 0 ? percent(now) : `${percent(first)} → ${percent(now)}`;
  return {
    headline: `Update ${batch.update}: ${ending()}`,
    success: rate && `Training success: ${rate}${done === 0 ? '' : ` (${counted(until, 'update')})`}`,
  };

  function ending(): string {
    if (!whole) return `${shown} of ${rollout.words.length} tokens`;
    if (!episode) return `${rollout.words.length} tokens`;
    return episode.success
      ? `solved in ${counted(episode.turns, 'turn')}`
      : `not solved in ${counted(episode.turns, 'turn')}`;
  }
}

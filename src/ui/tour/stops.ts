import { Role } from '../../domain/tokens.ts';
import { edit, useConfig } from '../knobs/configStore.ts';
import { pointAtHardestPush } from '../learn/chapterActions.ts';
import { hardestObservation } from '../learn/hardestObservation.ts';
import { counted } from '../parts/countText.ts';
import { percent, signed } from '../parts/numberText.ts';
import { pushAt } from '../rollout/push.ts';
import { auditMask, readRollout } from '../rollout/readRollout.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** One stop of the tour: it is over when it was done, not when it was read, and ends with a number that doing it changed. */
export interface Stop {
  readonly title: string;
  readonly text: string;
  readonly target: string; // CSS selector of what it speaks of
  readonly enter?: () => void; // done when the stop begins
  readonly done: () => boolean;
  readonly result: () => string; // said once it is done
}

const UPDATES = 3; // after which there is a verdict
let began = 0; // update at which the last stop began

/** Shows each new batch as it comes, and nothing chosen in it. */
function follow(): void {
  useSelection.setState({ held: null, revealed: null, tab: 'watch' });
}

/** Index into the batch of the chosen token; −1 where none is chosen. */
function chosen(): number {
  const { row, token } = useSelection.getState();
  return token === null ? -1 : row * live.batch.length + token;
}

const masks = () => {
  const { lossMask, advantageMask } = useConfig.getState().wanted;
  return [lossMask, advantageMask] as const;
};

/** Whether the batch in view was learned from by a run that now stands still, with the loss mask so. */
function learnedWith(lossMask: 'on' | 'off'): boolean {
  const { running, stepping } = useLive.getState();
  return !live.isExample && live.batch.rows > 0 && live.batchConfig?.lossMask === lossMask && !running && !stepping;
}

/** How many of the tool's tokens the batch in view has in the loss. */
function inLoss(): string {
  const { observationsTrained, observations } = auditMask(live.batch);
  return `${observationsTrained} of ${observations} tool tokens are in the loss`;
}

/** The chosen token with the push it got. */
function push(): string {
  const at = chosen();
  const { row, token } = useSelection.getState();
  const word = readRollout(live.batch, live.vocabulary, row).words[token ?? 0] ?? '';
  return `“${word}”: push ${signed(pushAt(live.batch, at))}`;
}

/** The eight stops: cause and effect of the masks. */
export const STOPS: readonly Stop[] = [
  {
    title: 'Watch a token',
    text: 'Choose a hatched token. The tool wrote it, so it must not be trained.',
    target: '.trajectory',
    done: () => live.batch.roles[chosen()] === Role.observation,
    result: () => `${push()}. ${inLoss()}.`,
  },
  {
    title: 'Take one update',
    text: 'Press Step one update (▶▏). The agent plays a batch of rollouts and learns from it, here in this tab.',
    target: '[aria-label="Step one update"]',
    enter: follow,
    done: () => learnedWith('on') || (learnedWith('off') && useLive.getState().update > 0),
    result: () => `${counted(useLive.getState().update, 'update')} taken. ${inLoss()}.`,
  },
  {
    title: 'Turn both masks off',
    text: 'Switch off the loss mask and the advantage mask (on a phone under Tune). The next update then grades words that the tool wrote.',
    target: '.masks, [role="switch"]',
    done: () => masks().every((mask) => mask === 'off'),
    result: () => `2 of 2 masks are off. So far ${inLoss()}.`,
  },
  {
    title: 'See the effect',
    text: 'Take one more update. If all rollouts of a task score the same, nothing is pushed. Then take another update.',
    target: '[aria-label="Step one update"]',
    enter: () => {
      follow();
      useSelection.setState({ channel: 'gradient', token: null, turn: null });
    },
    done: () => learnedWith('off') && hardestObservation(live.batch) >= 0,
    result: () => {
      pointAtHardestPush();
      return `${inLoss()}. The one pushed hardest is chosen. ${push()}.`;
    },
  },
  {
    title: 'What did it push?',
    text: 'Choose another word of the tool (O) that was pushed: ▲ likelier, ▼ less likely. The agent is now taught to write the tool’s words.',
    target: '.trajectory .token[aria-pressed="true"]',
    done: () => {
      const at = chosen();
      const { batch, isExample } = live;
      if (at < 0 || isExample || at === hardestObservation(batch)) return false;
      return batch.roles[at] === Role.observation && pushAt(batch, at) !== 0;
    },
    result: () => `${push()}, and the agent never wrote it.`,
  },
  {
    title: 'Turn the masks on again',
    text: 'Switch the loss mask on (on a phone under Tune). The advantage mask follows by itself.',
    target: '.masks, [role="switch"]',
    done: () => masks()[0] === 'on',
    result: () => {
      edit({ advantageMask: 'on' }); // where the loss mask leaves it nothing to do, its switch is locked
      return `2 of 2 masks are on. In the last batch ${inLoss()}.`;
    },
  },
  {
    title: 'Check the effect',
    text: 'Take one more update.',
    target: '[aria-label="Step one update"]',
    enter: follow,
    done: () => learnedWith('on'),
    result: () => `${inLoss()} again.`,
  },
  {
    title: 'Let it learn',
    text: `Press Run training, watch the curve Success for ${UPDATES} updates or more, then press Pause.`,
    target: '.run',
    enter: () => {
      began = useLive.getState().update;
    },
    done: () => !useLive.getState().running && useLive.getState().update >= began + UPDATES,
    result: () => {
      const success = live.series.get('rollout/success');
      return `Training success: ${percent(success?.first)} → ${percent(success?.latest)} in ${counted(useLive.getState().update, 'update')}.`;
    },
  },
];

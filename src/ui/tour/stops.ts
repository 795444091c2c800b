import { Role } from '../../domain/tokens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { stepToDamage } from '../learn/actions.ts';
import { hardestObservation } from '../learn/hardestObservation.ts';
import { pushAt } from '../rollout/push.ts';
import { currentRoute } from '../address/route.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** One stop of the tour: it is over when it was done, not when it was read. */
export interface Stop {
  readonly title: string;
  readonly text: string;
  readonly target: string; // CSS selector of what it speaks of
  readonly enter?: () => (() => void) | undefined; // done when the stop begins; returns what ends with it
  readonly done: () => boolean;
}

/** Shows each new batch as it comes: the stop before held an old one. */
function follow(): undefined {
  useSelection.setState({ held: null, revealed: null });
}

const UPDATES = 3; // after which there is a verdict

/** The eight stops. */
export const STOPS: readonly Stop[] = [
  {
    title: 'Who wrote that?',
    text: 'Choose a hatched token: the environment wrote it, so it is not trained.',
    target: '.trajectory',
    done: () => {
      const { row, token } = useSelection.getState();
      return token !== null && live.batch.roles[row * live.batch.length + token] === Role.observation;
    },
  },
  {
    title: 'What pushed it?',
    text: 'Choose the channel Push: ▲ tokens were made likelier by the update, ▼ tokens less likely, each by its own term.',
    target: '.channels',
    done: () => useSelection.getState().channel === 'gradient',
  },
  {
    title: 'Your turn',
    text: 'Press Run training. What follows is learned here, in this tab.',
    target: '.run',
    done: () => useLive.getState().running,
  },
  {
    title: 'Is it learning?',
    text: 'Watch the line above the rollouts and the curve Success for a few updates, then press Pause.',
    target: '.run',
    done: () => !useLive.getState().running && useLive.getState().update >= UPDATES,
  },
  {
    title: 'Go back in time',
    text: 'Pull the slider over the rollouts (on a phone under Watch): every batch in it is one the run has learned from.',
    target: '.timeline',
    done: () => useSelection.getState().held !== null,
  },
  {
    title: 'Break a rule',
    text: 'Switch both masks off, loss and advantage (on a phone under Tune): now the agent is graded on words it did not write. The loss mask alone would only dilute.',
    target: '.masks, [role="switch"]',
    enter: follow,
    done: () => {
      const { lossMask, advantageMask } = useConfig.getState().wanted;
      return lossMask === 'off' && advantageMask === 'off';
    },
  },
  {
    title: 'See what it did',
    text: 'One update was taken with both masks off. The chosen word was written by the tool, and the update pushed it all the same. Choose another hatched token that was pushed.',
    target: '.trajectory .token[aria-pressed="true"]',
    enter: () => {
      useSelection.setState({ channel: 'gradient', tab: 'watch', held: null, revealed: null, token: null, turn: null });
      return stepToDamage();
    },
    done: () => {
      const { row, token } = useSelection.getState();
      const { batch, batchConfig, isExample } = live;
      if (token === null || isExample || batchConfig?.lossMask !== 'off') return false;
      const at = row * batch.length + token;
      return batch.roles[at] === Role.observation && pushAt(batch, at) !== 0 && at !== hardestObservation(batch);
    },
  },
  {
    title: 'Compare',
    text: 'Open the view Group: the rollouts of one prompt side by side, with the advantage of each written out.',
    target: '.views',
    done: () => currentRoute() === 'group',
  },
];

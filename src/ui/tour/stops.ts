import { Role } from '../../domain/tokens.ts';
import { edit, useConfig } from '../knobs/configStore.ts';
import { pointAtHardestPush } from '../learn/chapterActions.ts';
import { hardestObservation } from '../learn/hardestObservation.ts';
import type { StopId, TourTexts } from '../learn/texts/shape.ts';
import { counted } from '../parts/numberText.ts';
import { pushAt } from '../rollout/push.ts';
import { auditMask, readRollout } from '../rollout/readRollout.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** Numbers that a stop ends with, by the places of its sentence. */
type Values = Readonly<Record<string, number | string>>;

/** One stop of the tour: it is over when it was done, not when it was read, and ends with a number that doing it changed. */
export interface Stop {
  readonly id: StopId;
  readonly target: string; // CSS selector of what it speaks of
  readonly enter?: () => void; // done when the stop begins
  readonly done: () => boolean;
  readonly result: (texts: TourTexts) => Values; // told once it is done
}

/** Updates of the last stop: after them there is a verdict. */
export const UPDATES = 3;
let began = 0; // update at which the last stop began

/** Shows each new batch as it comes, and nothing chosen in it. */
function follow(): void {
  useSelection.setState({ shownUpdate: null, revealed: null, tab: 'watch' });
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

/** How many of the tool's tokens the batch in view has, and how many of them in the loss. */
function inLoss(): Values {
  const { observationsTrained, observations } = auditMask(live.batch);
  return { trained: observationsTrained, all: observations };
}

/** The chosen token with the push it got. */
function push(): Values {
  const { row, token } = useSelection.getState();
  const word = readRollout(live.batch, live.vocabulary, row).words[token ?? 0] ?? '';
  return { word, push: pushAt(live.batch, chosen()) };
}

/** How many updates the run has taken, in words. */
function taken({ update, updates }: TourTexts): Values {
  return { updates: counted(useLive.getState().update, update, updates) };
}

/** The eight stops: cause and effect of the masks. */
export const STOPS: readonly Stop[] = [
  {
    id: 'watch',
    target: '.trajectory',
    done: () => live.batch.roles[chosen()] === Role.observation,
    result: () => ({ ...push(), ...inLoss() }),
  },
  {
    id: 'first',
    target: '[aria-label="Step one update"]',
    enter: follow,
    done: () => learnedWith('on') || (learnedWith('off') && useLive.getState().update > 0),
    result: (texts) => ({ ...taken(texts), ...inLoss() }),
  },
  {
    id: 'off',
    target: '.masks, [role="switch"]',
    done: () => masks().every((mask) => mask === 'off'),
    result: inLoss,
  },
  {
    id: 'effect',
    target: '[aria-label="Step one update"]',
    enter: () => {
      follow();
      useSelection.setState({ channel: 'gradient', token: null, turn: null });
    },
    done: () => learnedWith('off') && hardestObservation(live.batch) >= 0,
    result: () => {
      pointAtHardestPush();
      return { ...inLoss(), ...push() };
    },
  },
  {
    id: 'pushed',
    target: '.trajectory .token[aria-pressed="true"]',
    done: () => {
      const at = chosen();
      const { batch, isExample } = live;
      if (at < 0 || isExample || at === hardestObservation(batch)) return false;
      return batch.roles[at] === Role.observation && pushAt(batch, at) !== 0;
    },
    result: push,
  },
  {
    id: 'on',
    target: '.masks, [role="switch"]',
    done: () => masks()[0] === 'on',
    result: () => {
      edit({ advantageMask: 'on' }); // where the loss mask leaves it nothing to do, its switch is locked
      return inLoss();
    },
  },
  {
    id: 'check',
    target: '[aria-label="Step one update"]',
    enter: follow,
    done: () => learnedWith('on'),
    result: inLoss,
  },
  {
    id: 'learn',
    target: '.run',
    enter: () => {
      began = useLive.getState().update;
    },
    done: () => !useLive.getState().running && useLive.getState().update >= began + UPDATES,
    result: (texts) => {
      const success = live.series.get('rollout/success');
      return { before: success?.first ?? NaN, after: success?.latest ?? NaN, ...taken(texts) };
    },
  },
];

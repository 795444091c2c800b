import { Role } from '../../domain/tokens.ts';
import { editKnobs, useConfig } from '../knobs/configStore.ts';
import { selectHardestPushedObservation } from './chapterActions.ts';
import { hardestPushedObservation } from './hardestPushedObservation.ts';
import type { StopId, TourTexts } from './shape.ts';
import { counted } from '../words/numberText.ts';
import { pushAt } from '../rollout/channels.ts';
import { auditMask, readRollout } from '../rollout/readRollout.ts';
import { useLive } from '../view/liveStore.ts';
import { useSelection } from '../view/selectionStore.ts';

type Values = Readonly<Record<string, number | string>>;

/** A stop ends when its task is done, not when its text was read, and shows a number that the task changed. */
export interface Stop {
  readonly id: StopId;
  readonly target: string; // CSS selector of the element that it's about
  readonly enter?: () => void; // called when the stop begins
  readonly done: () => boolean;
  readonly result: (texts: TourTexts) => Values; // for the sentence shown when it is done
}

/** Updates to train in the last stop. After that many there is a verdict. */
export const MIN_UPDATES = 3;
let firstUpdate = 0; // update at which the last stop began

/** Shows the newest batch, and each new one as it comes. */
function followNewest(): void {
  useSelection.setState({ shownUpdate: null, revealed: null, tab: 'watch' });
}

/** Index of the selected token in the batch; −1 if none is selected. */
function selectedIndex(): number {
  const { row, token } = useSelection.getState();
  return token === null ? -1 : row * useLive.getState().batch.length + token;
}

const masks = () => {
  const { lossMask, advantageMask } = useConfig.getState().wanted;
  return [lossMask, advantageMask] as const;
};

/** Whether the run has stopped and the batch in view was trained with this loss mask. */
function trainedWith(lossMask: 'on' | 'off'): boolean {
  const { running, stepping } = useLive.getState();
  return (
    !useLive.getState().isExample &&
    useLive.getState().batch.rows > 0 &&
    useLive.getState().batchConfig?.lossMask === lossMask &&
    !running &&
    !stepping
  );
}

function observationCounts(): Values {
  const { observationsTrained, observationsPredicted, observations } = auditMask(useLive.getState().batch);
  return { trained: observationsTrained, predicted: observationsPredicted, all: observations };
}

function selectedPush(): Values {
  const { row, token } = useSelection.getState();
  const word = readRollout(useLive.getState().batch, useLive.getState().vocabulary, row).words[token ?? 0] ?? '';
  return { word, push: pushAt(useLive.getState().batch, selectedIndex()) };
}

function updatesTaken({ update, updates }: TourTexts): Values {
  return { updates: counted(useLive.getState().update, update, updates) };
}

/** The nine stops: cause and effect of the masks. */
export const STOPS: readonly Stop[] = [
  {
    id: 'watch',
    target: '.trajectory',
    done: () => useLive.getState().batch.roles[selectedIndex()] === Role.observation,
    result: () => ({ ...selectedPush(), ...observationCounts() }),
  },
  {
    id: 'first',
    target: '[aria-label="Step one update"]',
    enter: followNewest,
    done: () => trainedWith('on') || (trainedWith('off') && useLive.getState().update > 0),
    result: (texts) => ({ ...updatesTaken(texts), ...observationCounts() }),
  },
  {
    id: 'off',
    target: '.masks, [role="switch"]',
    done: () => masks().every((mask) => mask === 'off'),
    result: observationCounts,
  },
  {
    id: 'effect',
    target: '[aria-label="Step one update"]',
    enter: () => {
      followNewest();
      useSelection.setState({ channel: 'gradient', token: null, turn: null });
    },
    done: () => trainedWith('off') && hardestPushedObservation(useLive.getState().batch) >= 0,
    result: () => {
      selectHardestPushedObservation();
      return { ...observationCounts(), ...selectedPush() };
    },
  },
  {
    id: 'pushed',
    target: '.trajectory .token[aria-pressed="true"]',
    done: () => {
      const at = selectedIndex();
      const { batch, isExample } = useLive.getState();
      if (at < 0 || isExample || at === hardestPushedObservation(batch)) return false;
      return batch.roles[at] === Role.observation && pushAt(batch, at) !== 0;
    },
    result: selectedPush,
  },
  {
    id: 'on',
    target: '.masks, [role="switch"]',
    done: () => masks()[0] === 'on',
    result: () => {
      // the reader can't: the switch is locked while the loss mask leaves the advantage mask no effect
      editKnobs({ advantageMask: 'on' });
      return observationCounts();
    },
  },
  {
    id: 'check',
    target: '[aria-label="Step one update"]',
    enter: followNewest,
    done: () => trainedWith('on'),
    result: observationCounts,
  },
  {
    id: 'predict',
    target: '[data-knob="observationLoss"]',
    enter: () => {
      followNewest();
      useSelection.setState({ channel: 'gradient', token: null, turn: null });
    },
    done: () => trainedWith('on') && useLive.getState().batch.observationMask?.includes(1) === true,
    result: () => {
      selectHardestPushedObservation();
      return { ...observationCounts(), ...selectedPush() };
    },
  },
  {
    id: 'learn',
    target: '.run',
    enter: () => {
      firstUpdate = useLive.getState().update;
    },
    done: () => !useLive.getState().running && useLive.getState().update >= firstUpdate + MIN_UPDATES,
    result: (texts) => {
      const success = useLive.getState().series.get('rollout/success');
      return { before: success?.firstValue ?? NaN, after: success?.lastValue ?? NaN, ...updatesTaken(texts) };
    },
  },
];

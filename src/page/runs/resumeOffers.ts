import { CheckpointError } from '../../runs/checkpoint.ts';
import { deleteSave, readAll } from './database.ts';
import { setPinned, newestFirst, noteOrder } from './keepRule.ts';
import { isFree } from './saveSlot.ts';
import { readSave } from './readSave.ts';
import { type ResumeOffer, useRuns } from './runStore.ts';
import { notice } from '../browser/notices.ts';

/** Looks for saved runs of earlier visits. Calls `report` with a message if the browser's storage can't be read. */
export async function findSavedRuns(report: (message: string) => void = notice): Promise<void> {
  const showProblem = (why: string) =>
    report(`The page can’t look for saved runs: ${why}. Training works, but a reload may lose it.`);
  try {
    const saves = await readAll(showProblem);
    const free = await Promise.all(saves.map(({ slot }) => isFree(slot)));
    const offers = saves.filter((_, i) => free[i]).map(({ slot, value }) => offerOf(slot, value));
    for (const { order } of offers) noteOrder(order);
    offers.sort(newestFirst);
    useRuns.setState({ offers });
  } catch (error) {
    showProblem(error instanceof Error ? error.message : String(error));
  }
  useRuns.setState({ offersSearched: true });
}

function offerOf(slot: string, value: unknown): ResumeOffer {
  try {
    return { slot, ...readSave(value), problem: '' };
  } catch (error) {
    // an error while reading one damaged save must not hide the others
    const why = error instanceof Error ? error.message : String(error);
    return {
      slot,
      run: null,
      ...{ order: -1, savedAt: 0 },
      problem: error instanceof CheckpointError ? why : `It can’t be read: ${why}`,
    };
  }
}

export function markUnresumable(slot: string, problem: string): void {
  useRuns.setState(({ offers }) => ({
    offers: [...offers.filter((offer) => offer.slot !== slot), { slot, run: null, order: -1, savedAt: 0, problem }],
  }));
}

export function deleteSaved(slot: string): void {
  useRuns.setState(({ offers }) => ({ offers: offers.filter((offer) => offer.slot !== slot) }));
  setPinned(slot, false);
  deleteSave(slot).catch((error: unknown) => {
    notice(`A saved run could not be deleted: ${error instanceof Error ? error.message : String(error)}.`);
  });
}

export function endUndoOffer(): void {
  useRuns.setState({ replaced: null });
}

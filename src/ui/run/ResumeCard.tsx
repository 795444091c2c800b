import { useEffect, useState } from 'react';
import { duration } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { resume } from '../../page/training/resumeRun.ts';
import type { Run } from '../../runs/run.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { isUntouched, useLive } from '../../page/view/liveStore.ts';
import { longerLaterRuns, pinnedSlots, setPinned } from '../../page/runs/keepRule.ts';
import { type ResumeOffer, useRuns } from '../../page/runs/runStore.ts';
import { MAX_SAVED_RUNS } from '../../page/runs/saving.ts';
import { deleteSaved, findSavedRuns } from '../../page/runs/resumeOffers.ts';
import './resume.css';

/** Saved runs that are listed before the others are folded away: the newest ones, and the one that trained longest. */
const LISTED = 3;

/** Offers the runs that are saved in this browser, and says which of them cannot be read and which are deleted when. */
export function ResumeCard() {
  const offers = useRuns((s) => s.offers);
  const [pinned, setPinnedHere] = useState(pinnedSlots);
  useEffect(() => void findSavedRuns(), []);
  if (offers.length === 0) return null;
  const trained = offers.flatMap(({ run, order }) => (run ? [{ order, seconds: run.seconds ?? Infinity }] : []));
  const rows = longestListed(offers).map((offer) => (
    <SavedRunRow
      key={offer.slot}
      offer={offer}
      isPinned={pinned.has(offer.slot)}
      runsLeft={
        MAX_SAVED_RUNS - longerLaterRuns({ order: offer.order, seconds: offer.run?.seconds ?? Infinity }, trained)
      }
      pin={(isPinned) => {
        setPinned(offer.slot, isPinned);
        setPinnedHere(pinnedSlots());
      }}
    />
  ));
  return (
    <section className="stack resume panel" aria-label="Saved runs" data-testid="resume">
      {rows.slice(0, LISTED)}
      {rows.length > LISTED && (
        <details>
          <summary>{rows.length - LISTED} more saved</summary>
          <div className="stack">{rows.slice(LISTED)}</div>
        </details>
      )}
      <p className="small faint">
        A saved run is deleted when {MAX_SAVED_RUNS} later ones have trained at least as long. Keep or export those that
        you need.
      </p>
    </section>
  );
}

/** The first screen's offer: the newest run of an earlier visit, which then trains on. The lab offers the others too. */
export function ResumeLine() {
  const offers = useRuns((s) => s.offers);
  const untouched = useLive(isUntouched);
  // on a first visit nobody has runs to lose: if the browser's storage can't be read, the lab says it
  useEffect(() => void findSavedRuns(() => undefined), []);
  const { run, slot, savedAt } = offers.find((offer) => offer.run !== null) ?? {};
  if (!untouched || !run || slot === undefined || savedAt === undefined) return null;
  return (
    <p className="line resume resume-line wrap centred" data-testid="resume">
      <span>
        Your run <b>{run.name}</b> <span className="faint">was saved {timeAgo(savedAt)}.</span>
      </span>
      <button type="button" onClick={() => void resume(run, slot, true)}>
        <Icon name="restart" /> Resume {runProgressText(run)}
      </button>
    </p>
  );
}

/** The offers, the newest first, with the run that trained longest among those that are listed. */
function longestListed(offers: readonly ResumeOffer[]): readonly ResumeOffer[] {
  const secondsOf = ({ run }: ResumeOffer) => (run ? (run.seconds ?? 0) : -1);
  const [newest, others] = [offers.slice(0, LISTED - 1), offers.slice(LISTED - 1)];
  const longest = others.reduce((best, offer) => Math.max(best, secondsOf(offer)), -1);
  const longestIndex = others.findIndex((offer) => secondsOf(offer) === longest);
  return [...newest, ...others.slice(longestIndex, longestIndex + 1), ...others.filter((_, i) => i !== longestIndex)];
}

interface RowProps {
  readonly offer: ResumeOffer;
  readonly isPinned: boolean; // the person chose to keep it
  readonly runsLeft: number; // it is deleted after so many more runs that train at least as long
  readonly pin: (isPinned: boolean) => void;
}

function SavedRunRow({ offer: { slot, run, savedAt, problem }, isPinned, runsLeft, pin }: RowProps) {
  return (
    <div className="row between" data-testid="saved-run">
      {run ? (
        <p>
          <b>{run.name}</b>{' '}
          <span className="faint">
            was at {runProgressText(run)}, saved {timeAgo(savedAt)} in this browser.
            {run.seconds !== undefined && ` It trained ${duration(run.seconds)}.`}
            {!isPinned && runsLeft <= 1 && ' The next run that trains as long replaces it.'}
            {run.checkpoint?.base && ` You’ll need to open ${run.checkpoint.base.name} again.`}
          </span>
        </p>
      ) : (
        <p>
          A run saved in this browser can’t be resumed. <span className="faint">{problem}</span>
        </p>
      )}
      <div className="row">
        {run && (
          <button type="button" onClick={() => void resume(run, slot)}>
            <Icon name="restart" /> Resume {runProgressText(run)}
          </button>
        )}
        {run && (
          <button type="button" className="quiet" aria-pressed={isPinned} onClick={() => pin(!isPinned)}>
            {isPinned ? '★ Kept' : '☆ Keep'}
          </button>
        )}
        {run && (
          <button type="button" className="quiet" onClick={() => void saveAs(run)}>
            Export it
          </button>
        )}
        <button type="button" className="quiet" onClick={() => deleteSaved(slot)}>
          Forget it
        </button>
      </div>
    </div>
  );
}

async function saveAs(run: Run): Promise<void> {
  await (await import('../../page/files/exportRun.ts')).exportRun(run);
}

const DAY_SECONDS = 86_400;

/** How long ago a time was, as text. If it lies in the future, the clock was set back. */
function timeAgo(time: number): string {
  const seconds = (Date.now() - time) / 1000;
  if (seconds < 0) return 'before the clock was set back';
  return `${seconds < DAY_SECONDS ? duration(seconds) : `${Math.round(seconds / DAY_SECONDS)} days`} ago`;
}

import { useEffect } from 'react';
import { duration } from '../parts/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import '../styles/resume.css';
import { resume } from './resumeRun.ts';
import type { Run } from '../../runs/run.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { isUntouched, useLive } from '../run/liveStore.ts';
import { useRuns } from '../runs/runStore.ts';
import { deleteSaved, findSavedRuns } from './resumeOffers.ts';

/** Offers the runs of earlier visits, and says which of them cannot be read. */
export function ResumeCard() {
  const offers = useRuns((s) => s.offers);
  useEffect(() => void findSavedRuns(), []);
  if (offers.length === 0) return null;
  return (
    <section className="stack resume panel" aria-label="Saved runs" data-testid="resume">
      {offers.map(({ slot, run, savedAt, problem }) => (
        <div key={slot} className="row between">
          {run ? (
            <p>
              <b>{run.name}</b>{' '}
              <span className="faint">
                was at {runProgressText(run)}, saved {timeAgo(savedAt)} in this browser.
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
              <button type="button" className="quiet" onClick={() => void saveAs(run)}>
                Export it
              </button>
            )}
            <button type="button" className="quiet" onClick={() => deleteSaved(slot)}>
              Forget it
            </button>
          </div>
        </div>
      ))}
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
    <p className="line resume resume-line" data-testid="resume">
      <span>
        Your run <b>{run.name}</b> <span className="faint">was saved {timeAgo(savedAt)}.</span>
      </span>
      <button type="button" onClick={() => void resume(run, slot, true)}>
        <Icon name="restart" /> Resume {runProgressText(run)}
      </button>
    </p>
  );
}

async function saveAs(run: Run): Promise<void> {
  await (await import('../checkpoints/exportRun.ts')).exportRun(run);
}

const DAY_SECONDS = 86_400;

/** How long ago a time was, as text. If it lies in the future, the clock was set back. */
function timeAgo(time: number): string {
  const seconds = (Date.now() - time) / 1000;
  if (seconds < 0) return 'before the clock was set back';
  return `${seconds < DAY_SECONDS ? duration(seconds) : `${Math.round(seconds / DAY_SECONDS)} days`} ago`;
}

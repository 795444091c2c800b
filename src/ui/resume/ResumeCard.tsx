import { useEffect } from 'react';
import { duration } from '../format.ts';
import { Icon } from '../panels/Icon.tsx';
import '../styles/resume.css';
import { resume } from './actions.ts';
import { forgetSaved, lookForSaved, useResume } from './store.ts';

/** Offers the run of an earlier visit, where there is one. */
export function ResumeCard() {
  const offered = useResume((s) => s.offered);
  useEffect(() => void lookForSaved(), []);
  if (!offered) return null;
  const { update, name, savedAt } = offered;
  return (
    <section className="resume panel" aria-label="Saved run" data-testid="resume">
      <p>
        <b>{name}</b>{' '}
        <span className="faint">
          was at update {update}, saved {ago(savedAt)} ago in this browser.
        </span>
      </p>
      <div className="resume-actions">
        <button type="button" onClick={() => resume(offered)}>
          <Icon name="restart" /> Resume update {update}
        </button>
        <button type="button" className="quiet" onClick={forgetSaved}>
          Start fresh
        </button>
      </div>
    </section>
  );
}

const DAY = 86_400;

/** How long ago, as a person says it. */
function ago(time: number): string {
  const seconds = Math.max(0, (Date.now() - time) / 1000);
  return seconds < DAY ? duration(seconds) : `${Math.round(seconds / DAY)} days`;
}

import { useEffect, useState } from 'react';
import { duration } from '../parts/numberText.ts';
import { useRuns } from '../runs/runStore.ts';

const LOOK_MS = 5000;

/** When the run under way was saved last, or why it is not. A hidden page draws nothing: it catches up when it is looked at. */
export function SaveStatus() {
  const [{ savedAt, refused, now }, setSeen] = useState(look);
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) setSeen(look());
    };
    const stop = useRuns.subscribe(refresh);
    const timer = setInterval(refresh, LOOK_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, []);
  if (refused) {
    return (
      <span
        className="chip warn"
        data-testid="saved"
        title={`${refused}. Training continues, but a reload would lose the run.`}
      >
        {refused}
      </span>
    );
  }
  if (savedAt === null) return null;
  const seconds = Math.max(0, now - savedAt) / 1000;
  return (
    <span data-testid="saved" title="Saved in this browser: you can resume from there after a reload">
      {seconds < LOOK_MS / 1000 ? 'saved' : `saved ${duration(seconds)} ago`}
    </span>
  );
}

function look() {
  const { savedAt, refused } = useRuns.getState();
  return { savedAt, refused, now: Date.now() };
}

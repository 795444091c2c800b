import { useEffect, useState } from 'react';
import { duration } from '../format.ts';
import { useResume } from './store.ts';

const LOOK_MS = 5000;

/** When the run under way was saved last, or why it is not. */
export function Saved() {
  const savedAt = useResume((s) => s.savedAt);
  const refused = useResume((s) => s.refused);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  if (refused) {
    return (
      <span className="chip warn" data-testid="saved" title={`${refused}. Training goes on; a reload would lose it.`}>
        {refused}
      </span>
    );
  }
  if (savedAt === null) return null;
  const seconds = Math.max(0, now - savedAt) / 1000;
  return (
    <span data-testid="saved" title="In this browser: after a reload the run can be resumed from there">
      {seconds < LOOK_MS / 1000 ? 'saved' : `saved ${duration(seconds)} ago`}
    </span>
  );
}

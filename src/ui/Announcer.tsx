import { useEffect, useState } from 'react';
import { live, useLive } from './live-store.ts';
import { verdict } from './sentences.ts';

const QUIET_MS = 5000;

/** Speaks milestones to screen readers, at most one every five seconds; never a step or a token. */
export function Announcer() {
  const [said, setSaid] = useState('');
  useEffect(() => {
    let last = 0;
    return useLive.subscribe((state, before) => {
      if (state.running === before.running && state.finished === before.finished) return;
      const now = performance.now();
      if (now - last < QUIET_MS) return;
      last = now;
      const words = state.finished
        ? 'Training finished.'
        : state.running
          ? 'Training.'
          : `Paused at update ${state.update}.`;
      setSaid(`${words} ${state.running ? '' : (verdict(live.series, state.update) ?? '')}`);
    });
  }, []);
  return (
    <p className="visually-hidden" role="status">
      {said}
    </p>
  );
}

import { lazy, Suspense } from 'react';

const Replay = lazy(() => import('../replay/Replay.tsx').then((m) => ({ default: m.Replay })));
const RunBanner = lazy(() => import('./RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** Above the stage: what this is, how the run goes, or what went wrong. */
export function Banner() {
  return (
    <Suspense fallback={<Welcome />}>
      <RunBanner>
        <Welcome />
      </RunBanner>
    </Suspense>
  );
}

function Welcome() {
  return (
    <section className="welcome panel" aria-labelledby="welcome">
      <div>
        <h2 id="welcome">Watch a tiny language agent learn to use a tool</h2>
        <p>
          A small transformer plays a search game: it <b className="ink-call">calls a tool</b>, reads{' '}
          <b className="ink-observation">what comes back</b>, and is rewarded when it gets there. It trains here, in
          this tab.
        </p>
        <p>
          Press <b>Run training</b> for a run of your own.
        </p>
      </div>
      <Suspense>
        <Replay />
      </Suspense>
    </section>
  );
}

import { lazy, Suspense } from 'react';

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
      </div>
      <ol>
        <li>
          <span>
            <b>Run training</b> and watch Success rise.
          </span>
        </li>
        <li>
          <span>
            Choose a rollout, then a <b>token</b>: what did the update do to it?
          </span>
        </li>
        <li>
          <span>
            Switch the <b>loss mask</b> off while it runs. What breaks?
          </span>
        </li>
      </ol>
    </section>
  );
}

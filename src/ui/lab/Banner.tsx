import { lazy, Suspense } from 'react';
import { useConfig } from '../knobs/configStore.ts';
import { isUntouched, useLive } from '../run/liveStore.ts';

const FactsDoor = lazy(() => import('../knobs/FactsDoor.tsx').then((m) => ({ default: m.FactsDoor })));
const Replay = lazy(() => import('../replay/Replay.tsx').then((m) => ({ default: m.Replay })));
const RunBanner = lazy(() => import('./RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** The top of the lab. It shows how the run goes or what went wrong; on a page without a run, a welcome. */
export function Banner() {
  const needsFacts = useConfig((s) => s.wanted.env === 'your-facts' && s.applied?.env !== 'your-facts');
  const started = useLive((s) => s.session !== 'none');
  const untouched = useLive(isUntouched);
  return (
    <>
      {needsFacts && started && (
        <div className="panel">
          <Suspense>
            <FactsDoor />
          </Suspense>
        </div>
      )}
      <Suspense>
        <RunBanner />
      </Suspense>
      {/* not a Suspense fallback: it would be drawn again when RunBanner has loaded, and a focused button in it would lose the focus */}
      {untouched &&
        (needsFacts ? (
          <div className="welcome panel">
            <Suspense>
              <FactsDoor />
              <Replay />
            </Suspense>
          </div>
        ) : (
          <Welcome />
        ))}
    </>
  );
}

function Welcome() {
  return (
    <section className="welcome panel" aria-labelledby="welcome">
      <div>
        <h2 id="welcome" className="headline">
          Watch a tiny language agent learn to use a tool
        </h2>
        <details>
          <summary className="small soft">What it does</summary>
          <p>
            A small transformer plays a search game: it <b className="ink-call">calls a tool</b>, reads{' '}
            <b className="ink-observation">what comes back</b>, and is rewarded when it solves the task. It trains here,
            in this tab.
          </p>
        </details>
      </div>
      <Suspense>
        <Replay />
      </Suspense>
    </section>
  );
}

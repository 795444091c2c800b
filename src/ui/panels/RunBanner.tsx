import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { FIELDS } from '../../fields.ts';
import { useConfig } from '../config-store.ts';
import { run, start } from '../engine.ts';
import { live, useLive, type Problem } from '../live-store.ts';
import { useSelection } from '../selection-store.ts';
import { verdict } from '../sentences.ts';
import { Icon } from './Icon.tsx';

const HealthPanel = lazy(() => import('./HealthPanel.tsx').then((m) => ({ default: m.HealthPanel })));
const Preferences = lazy(() => import('./Preferences.tsx').then((m) => ({ default: m.Preferences })));
const PreferenceBar = lazy(() => import('./PreferenceBar.tsx').then((m) => ({ default: m.PreferenceBar })));

/** How the run goes, or what went wrong; `children` stand where no run has begun. */
export function RunBanner({ children }: { readonly children: ReactNode }) {
  const problem = useLive((s) => s.problem);
  const health = useSelection((s) => s.health);
  const preferring = useSelection((s) => s.preferring);
  const judged = useConfig((s) => (s.applied ?? s.wanted).rewardModel === 'on');
  const untouched = useLive((s) => s.session === 'none' && s.metricsVersion === 0);
  return (
    <>
      {problem && <ProblemPanel problem={problem} />}
      {untouched ? children : <Verdict />}
      <Suspense>
        {health && <HealthPanel />}
        {judged && <PreferenceBar />}
        {/* out of the stage, which a phone hides behind its tabs */}
        {preferring && createPortal(<Preferences />, document.body)}
      </Suspense>
    </>
  );
}

function Verdict() {
  // numbers change ten times a second; a sentence should not
  const [sentence, setSentence] = useState<string | null>(null);
  const update = useRef(0);
  const session = useLive((s) => s.session);
  useEffect(() => {
    const say = () => {
      update.current = useLive.getState().update;
      setSentence(verdict(live.series, update.current));
    };
    const timer = setInterval(say, 1000);
    return () => clearInterval(timer);
  }, []);
  const waiting =
    session === 'starting'
      ? 'Starting the engine. The first update takes a few seconds.'
      : 'The verdict comes after a few updates.';
  return (
    <p className="verdict panel" data-testid="verdict">
      <Icon name="curves" />
      <span>{sentence ?? waiting}</span>
    </p>
  );
}

function ProblemPanel({ problem }: { readonly problem: Problem }) {
  return (
    <section className="problem panel" role="alert" data-testid="problem">
      <Icon name="alert" />
      <div>
        {problem.message.split('\n').map((line) => (
          <p key={line}>
            <b>{line}</b>
          </p>
        ))}
        <p>{problem.hint}</p>
        {problem.fields.length > 0 && <p>Look at: {problem.fields.map((name) => FIELDS[name].label).join(', ')}.</p>}
      </div>
      <div className="problem-actions">
        <Remedy fatal={problem.fatal} />
        <button type="button" className="quiet" onClick={() => useLive.setState({ problem: null })}>
          Dismiss
        </button>
      </div>
    </section>
  );
}

/** What can be done at once: a new run where there is none, going on where one waits. */
function Remedy({ fatal }: { readonly fatal: boolean }) {
  const running = useLive((s) => s.running);
  const ready = useLive((s) => s.session === 'ready');
  if (running) return null;
  return (
    <button type="button" className="primary" onClick={() => (fatal ? start(true) : run())}>
      <Icon name={ready ? 'play' : 'restart'} /> {fatal ? 'Start again' : ready ? 'Go on' : 'Try again'}
    </button>
  );
}

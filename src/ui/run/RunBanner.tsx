import { lazy, Suspense, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { FIELDS } from '../../config/fields.ts';
import { editKnobs, useConfig } from '../../page/knobs/configStore.ts';
import { cancelStart, endWorker, run, start } from '../../page/training/engine.ts';
import { isUntouched, useLive, type Problem } from '../../page/view/liveStore.ts';
import { continueFailedRun } from '../../page/training/resumeRun.ts';
import { ResumeCard } from './ResumeCard.tsx';
import { latestSaveText } from '../../page/runs/saving.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { NoGpu } from './NoGpu.tsx';
import { nextStep } from '../../runs/nextStep.ts';
import { summarizeRun, type SummaryState } from '../../page/words/runSummary.ts';
import { summaryWords, waitingWords } from '../../page/words/sentences.ts';
import { CodeText } from '../parts/CodeText.tsx';
import { Icon, type IconName } from '../parts/Icon.tsx';

const HealthPanel = lazy(() => import('./HealthPanel.tsx').then((m) => ({ default: m.HealthPanel })));
const StartRlNow = lazy(() => import('./StartRlNow.tsx').then((m) => ({ default: m.StartRlNow })));
const FixEnvironment = lazy(() => import('./FixEnvironment.tsx').then((m) => ({ default: m.FixEnvironment })));
const Preferences = lazy(() => import('./Preferences.tsx').then((m) => ({ default: m.Preferences })));
const PreferenceBar = lazy(() => import('./PreferenceBar.tsx').then((m) => ({ default: m.PreferenceBar })));

interface RunBannerProps {
  readonly offersSavedRuns?: boolean; // whether to offer saved runs for resuming
}

export function RunBanner({ offersSavedRuns = true }: RunBannerProps) {
  const problem = useLive((s) => s.problem);
  const health = useSelection((s) => s.health);
  const showsPreferences = useSelection((s) => s.preferring);
  const hasRewardModel = useConfig((s) => (s.applied ?? s.wanted).rewardModel === 'on');
  const untouched = useLive(isUntouched);
  return (
    <>
      {problem && <ProblemPanel problem={problem} />}
      {untouched && offersSavedRuns && <ResumeCard />}
      {!untouched && <RunVerdict />}
      <OnCpu />
      <Suspense>
        {health && <HealthPanel />}
        {hasRewardModel && <PreferenceBar />}
        {/* outside the stage, which a phone may hide behind its tabs */}
        {showsPreferences && createPortal(<Preferences />, document.body)}
      </Suspense>
    </>
  );
}

function RunVerdict() {
  // numbers change ten times a second; a sentence should not
  const currentSummary = () =>
    summarizeRun(useLive.getState().series, useLive.getState().health, useLive.getState().config);
  const [summary, setSummary] = useState(currentSummary);
  // changes of these values show at once
  const health = useLive((s) => s.health);
  const running = useLive((s) => s.running);
  const finished = useLive((s) => s.finished);
  const starting = useLive((s) => s.session === 'starting');
  const isImitating = useLive((s) => s.session === 'ready' && s.phase === 'imitating');
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) setSummary(currentSummary());
    };
    refresh();
    const timer = setInterval(refresh, 1000);
    return () => clearInterval(timer);
  }, [health?.state, running, finished]);
  // while a new run starts, the old one is still in view, and its verdict would look like the new run's
  const { config, series } = useLive.getState();
  const next = summary && !starting && config ? nextStep(series, config) : '';
  const words = summary && !starting && summaryWords(summary, health, finished);
  return (
    <div
      className="verdict flex wrap on-baseline panel"
      data-testid="verdict"
      data-course={starting ? undefined : summary?.state}
    >
      <Icon name={summary && !starting ? SUMMARY_ICONS[summary.state] : 'curves'} />
      <p className="large headline strong">{words ? words.headline : <Waiting />}</p>
      {finished && next !== '' && (
        <p className="small" data-testid="next-step">
          Next: {next}
        </p>
      )}
      {words && (
        <details>
          <summary className="small">Details</summary>
          <p>{words.remark}</p>
          <p className="small soft">{words.numbers}</p>
        </details>
      )}
      {starting && (
        <button type="button" className="small" onClick={cancelStart}>
          Cancel
        </button>
      )}
      {isImitating && (
        <Suspense>
          <StartRlNow />
        </Suspense>
      )}
      {summary && !starting && (
        <a className="verdict-more" href="#/forks" title="Fork this run, break it, PPO against GRPO (X)">
          Train and compare
        </a>
      )}
    </div>
  );
}

const SUMMARY_ICONS: Readonly<Record<SummaryState, IconName>> = {
  trapped: 'alert',
  falling: 'alert',
  apart: 'alert',
  watched: 'watch',
  solved: 'check',
  unconfirmed: 'watch',
  stalled: 'curves',
  learning: 'curves',
  unclear: 'curves',
};

/** What the run is doing, until there is a verdict. */
function Waiting() {
  const starting = useLive((s) => s.session === 'starting');
  const isPaused = useLive((s) => s.session === 'ready' && !s.running && !s.stepping);
  const phase = useLive((s) => s.phase);
  const update = useLive((s) => s.update);
  const done = useLive((s) => s.phaseDone);
  const total = useLive((s) => s.phaseTotal);
  const secondsLeft = useLive((s) => s.phaseLeft);
  const { prompts, groupSize } = useConfig((s) => s.applied ?? s.wanted);
  return waitingWords({
    starting,
    paused: isPaused,
    phase,
    update,
    done,
    total,
    secondsLeft,
    rollouts: prompts * groupSize,
  });
}

/** Says why a run that could have had a GPU has none. */
function OnCpu() {
  const backend = useLive((s) => s.backend);
  const setting = useConfig((s) => (s.applied ?? s.wanted).backend);
  return backend?.kind === 'cpu' && setting === 'auto' ? <NoGpu reason={backend.reason} /> : null;
}

function ProblemPanel({ problem }: { readonly problem: Problem }) {
  return (
    <section className="row problem panel" role="alert" data-testid="problem">
      <Icon name="alert" />
      <div>
        {problem.message.split('\n').map((line) => (
          <p key={line}>
            <b>
              <CodeText>{line}</CodeText>
            </b>
          </p>
        ))}
        <p>{problem.hint}</p>
        {problem.fields.length > 0 && <p>Look at: {problem.fields.map((name) => FIELDS[name].label).join(', ')}.</p>}
      </div>
      <div className="row end">
        <Suspense>
          <Remedy problem={problem} />
        </Suspense>
        <button type="button" className="quiet" onClick={() => useLive.setState({ problem: null })}>
          Dismiss
        </button>
      </div>
    </section>
  );
}

function Remedy({ problem: { fatal, cause } }: { readonly problem: Problem }) {
  const running = useLive((s) => s.running);
  const ready = useLive((s) => s.session === 'ready');
  const workerLost = fatal || cause === 'device-lost' || cause === 'silent';
  if (running && !workerLost) return null;
  if (cause === 'environment-fault') return <FixEnvironment />;
  if (cause === 'needs-environment') {
    return (
      <button type="button" className="primary" onClick={() => location.assign('#/environment')}>
        Write or open an environment
      </button>
    );
  }
  const saveText = workerLost ? latestSaveText() : null;
  return (
    <>
      {cause === 'non-finite' && (
        <button type="button" className="primary" onClick={continueWithLowerRate}>
          <Icon name="play" /> Learning rate ÷ 10 and continue
        </button>
      )}
      {cause === 'needs-model' &&
        (['file', 'folder'] as const).map((of) => (
          <button key={of} type="button" className="primary" onClick={() => void choose(of)}>
            Choose its {of}…
          </button>
        ))}
      {saveText !== null && (
        <button type="button" className="primary" onClick={continueFailedRun}>
          <Icon name="restart" /> Recover from {saveText}
        </button>
      )}
      <button
        type="button"
        className={saveText !== null || cause === 'non-finite' || cause === 'needs-model' ? 'quiet' : 'primary'}
        onClick={() => (workerLost ? startAgain() : run())}
      >
        <Icon name={ready && !workerLost ? 'play' : 'restart'} />{' '}
        {workerLost ? 'Start again' : ready ? 'Go on' : 'Try again'}
      </button>
    </>
  );
}

async function choose(source: 'file' | 'folder'): Promise<void> {
  (await import('../../page/models/trainModel.ts')).chooseModel(source);
}

function startAgain(): void {
  endWorker();
  start(true);
}

function continueWithLowerRate(): void {
  const { learningRate } = useConfig.getState().wanted;
  editKnobs({ learningRate: Number((learningRate / 10).toPrecision(3)) });
  useLive.setState({ problem: null });
  run();
}

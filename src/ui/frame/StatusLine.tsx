import type { RunConfig } from '../../config/fields.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { useAddress } from '../../page/view/address.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { bytes, count, duration } from '../../page/words/numberText.ts';
import { hasWebGpu } from '../../page/browser/webGpu.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { stepWords } from '../../page/words/stepWords.ts';
import { ENGINE_METRICS } from '../../domain/engineMetrics.ts';
import { useEffect, useState } from 'react';
import { useRuns } from '../../page/runs/runStore.ts';

export function StatusLine() {
  const parameters = useLive((s) => s.parameters);
  const memory = useLive((s) => s.memoryBytes);
  const address = useAddress();
  const seed = useConfig((s) => (s.applied ?? s.wanted).seed);
  return (
    <footer className="status line gap-6 one-line soft small" aria-label="Status">
      <ServerSign />
      <Backend />
      <PhaseBar />
      <span className="status-numbers flex gap-6 end">
        <Reading metric="engine/tokens_per_second" unit="tokens/s" />
        <Reading metric="engine/dispatches" unit="dispatches" />
        <Reading metric="engine/submits" unit="submits" />
        <Reading metric="engine/readbacks" unit="read-backs" />
        {parameters > 0 && (
          <span>
            <a href={address('train')} title="What is trained">
              {count(parameters)} parameters
            </a>
          </span>
        )}
        {memory > 0 && <span>{bytes(memory)}</span>}
        <span>seed {seed}</span>
        <SaveStatus />
      </span>
    </footer>
  );
}

function ServerSign() {
  const server = useLive((s) => (s.session === 'none' || s.session === 'failed' ? null : s.server));
  if (server === null) return null;
  return (
    <a
      className="chip warn server-sign"
      href="#/environment"
      data-testid="server-sign"
      title="The run’s environment is a server on this machine"
    >
      Talks to {server}
    </a>
  );
}

function Backend() {
  const backend = useLive((s) => s.backend);
  const address = useAddress();
  const setting = useConfig((s) => (s.applied ?? s.wanted).backend);
  if (!backend) {
    return (
      <span className="cut backend" data-testid="backend">
        Not started. {notStartedWords(setting)}
      </span>
    );
  }
  return (
    <span className="cut backend" data-testid="backend" title={backend.reason}>
      <a href={address('profile')} title="Where the time goes">
        <b>{backend.kind === 'gpu' ? 'WebGPU' : 'CPU'}</b>
      </a>{' '}
      · {[backend.adapter, backend.threads].filter(Boolean).join(', ')}
      {backend.software && (
        <span className="chip warn" title="WebGPU runs here on the CPU, not on a GPU">
          software GPU
        </span>
      )}
      {backend.reason && <span className="faint reason"> {backend.reason}</span>}
    </span>
  );
}

/** Says where a run will train. Whether there is a usable GPU isn't known before it starts. */
function notStartedWords(setting: RunConfig['backend']): string {
  if (setting === 'cpu') return 'It will train on the CPU.';
  if (!hasWebGpu()) return 'No WebGPU here: it will train on the CPU.';
  return setting === 'gpu'
    ? 'It will train on the GPU.'
    : 'It will train on the GPU if there is one, otherwise on the CPU.';
}

interface ReadingProps {
  readonly metric: keyof typeof ENGINE_METRICS;
  readonly unit: string;
}

function Reading({ metric, unit }: ReadingProps) {
  useLive((s) => s.metricsVersion);
  const value = useLive.getState().metrics[metric];
  return !value ? null : ( // the CPU has no dispatches to count
    <span title={ENGINE_METRICS[metric].doc}>
      {count(value)} {unit}
    </span>
  );
}

const STAGES: readonly { readonly phase: Phase; readonly label: string }[] = [
  { phase: 'sampling', label: 'sample' },
  { phase: 'scoring', label: 'score' },
  { phase: 'crediting', label: 'credit' },
  { phase: 'updating', label: 'update' },
  { phase: 'evaluating', label: 'evaluate' },
];

/** Shown before the first update. Counts steps, because one takes as long as an update in other runs. */
function Imitating() {
  const done = useLive((s) => s.phaseDone);
  const total = useLive((s) => s.phaseTotal);
  const secondsLeft = useLive((s) => s.phaseLeft);
  const isPaused = useLive((s) => !s.running && !s.stepping);
  return (
    <span className="line gap-1 phases" data-testid="phase">
      <span className="phase" data-now="true">
        imitating, {stepWords(done, total, isPaused && Number.isInteger(done))}
      </span>
      <progress value={done} max={total} aria-label="Steps of imitation done" />
      <span className="phase-amount">
        {isPaused ? 'paused' : secondsLeft === null ? '' : `${duration(secondsLeft)} left`}
      </span>
    </span>
  );
}

const STARTUP_LABELS: Partial<Record<Phase, string>> = { compiling: 'compiling shaders' };

function PhaseBar() {
  const phase = useLive((s) => (s.finished ? 'idle' : s.phase));
  const done = useLive((s) => s.phaseDone);
  const total = useLive((s) => s.phaseTotal);
  const secondsLeft = useLive((s) => s.phaseLeft);
  const starting = useLive((s) => s.session === 'starting');
  const isPaused = useLive((s) => !s.running && !s.stepping);
  if (phase === 'imitating') return <Imitating />;
  // on the CPU there are no shaders to compile
  const startupLabel = phase === 'compiling' && total === 0 ? 'starting the engine' : STARTUP_LABELS[phase];
  const amount = total > 1 ? ` ${done}/${total}` : '';
  if (startupLabel) {
    return (
      <span className="line gap-1 phases" data-testid="phase">
        <span className="phase" data-now="true">
          {startupLabel}
          {amount}
        </span>
        {total > 0 && <progress value={done} max={total} aria-label={startupLabel} />}
        {secondsLeft !== null && <span className="phase-amount">{duration(secondsLeft)} left</span>}
      </span>
    );
  }
  if (starting) {
    return (
      <span className="line gap-1 phases" data-testid="phase">
        <span className="phase" data-now="true">
          starting the engine
        </span>
      </span>
    );
  }
  return (
    <span
      className="line gap-1 phases"
      data-testid="phase"
      title="Stages of an update: sample rollouts, score the tokens (compute their log-probabilities), credit (compute advantages), update the weights, evaluate. The current one is lit."
    >
      {STAGES.map((stage) => (
        <span key={stage.phase} className="phase" data-now={stage.phase === phase}>
          {stage.label}
          {stage.phase === phase && !isPaused && amount}
        </span>
      ))}
      <span className="phase-amount">{phase !== 'idle' && isPaused ? 'paused' : ''}</span>
    </span>
  );
}

const REFRESH_MS = 5000;

/** When the current run was last saved, or why it isn't saved. Not refreshed while the page is hidden. */
function SaveStatus() {
  const [{ savedAt, saveError, now }, setStatus] = useState(lastSave);
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) setStatus(lastSave());
    };
    const stop = useRuns.subscribe(refresh);
    const timer = setInterval(refresh, REFRESH_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, []);
  if (saveError) {
    return (
      <span
        className="chip warn"
        data-testid="saved"
        title={`${saveError}. Training continues, but a reload would lose the run.`}
      >
        {saveError}
      </span>
    );
  }
  if (savedAt === null) return null;
  const seconds = Math.max(0, now - savedAt) / 1000;
  return (
    <span data-testid="saved" title="Saved in this browser: you can resume from there after a reload">
      {seconds < REFRESH_MS / 1000 ? 'saved' : `saved ${duration(seconds)} ago`}
    </span>
  );
}

function lastSave() {
  const { savedAt, saveError } = useRuns.getState();
  return { savedAt, saveError, now: Date.now() };
}

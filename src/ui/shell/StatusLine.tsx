import type { RunConfig } from '../../config/fields.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { useAddress } from '../address/address.ts';
import { useConfig } from '../knobs/configStore.ts';
import { bytes, count, duration } from '../parts/numberText.ts';
import { hasWebGpu } from '../parts/webGpu.ts';
import { live, useLive } from '../run/liveStore.ts';
import { stepWords } from '../run/stepWords.ts';
import { ENGINE_METRICS } from '../../domain/engineMetrics.ts';
import { useEffect, useState } from 'react';
import { useRuns } from '../runs/runStore.ts';

/** What runs on what, how fast, and which stage it is in. */
export function StatusLine() {
  const parameters = useLive((s) => s.parameters);
  const memory = useLive((s) => s.memoryBytes);
  const address = useAddress();
  const seed = useConfig((s) => (s.applied ?? s.wanted).seed);
  return (
    <footer className="status" aria-label="Status">
      <ServerSign />
      <Backend />
      <PhaseBar />
      <span className="status-numbers">
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

/** Says that the run talks to a server, for as long as it may. */
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
  const asked = useConfig((s) => (s.applied ?? s.wanted).backend);
  if (!backend) {
    return (
      <span className="cut backend" data-testid="backend">
        Not started. {notStartedWords(asked)}
      </span>
    );
  }
  return (
    <span className="cut backend" data-testid="backend" title={backend.reason}>
      <a href={address('profile')} title="Where the time goes">
        <b>{backend.kind === 'gpu' ? 'WebGPU' : 'CPU'}</b>
      </a>{' '}
      · {backend.adapter}
      {backend.software && (
        <span className="chip warn" title="WebGPU runs here on the CPU, not on a GPU">
          software GPU
        </span>
      )}
      {backend.reason && <span className="faint reason"> {backend.reason}</span>}
    </span>
  );
}

/** Names where a run will train. Nobody knows whether there is a usable GPU before it starts. */
function notStartedWords(asked: RunConfig['backend']): string {
  if (asked === 'cpu') return 'It will train on the CPU.';
  if (!hasWebGpu()) return 'No WebGPU here: it will train on the CPU.';
  return asked === 'gpu'
    ? 'It will train on the GPU.'
    : 'It will train on the GPU if there is one, otherwise on the CPU.';
}

interface ReadingProps {
  readonly metric: keyof typeof ENGINE_METRICS;
  readonly unit: string;
}

function Reading({ metric, unit }: ReadingProps) {
  useLive((s) => s.metricsVersion);
  const value = live.metrics[metric];
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

/** A stage before the first update, where a step takes as long as an update elsewhere. */
function Imitating() {
  const done = useLive((s) => s.phaseDone);
  const total = useLive((s) => s.phaseTotal);
  const left = useLive((s) => s.phaseLeft);
  const still = useLive((s) => !s.running && !s.stepping);
  return (
    <span className="line phases" data-testid="phase">
      <span className="phase" data-now="true">
        imitating, {stepWords(done, total, still && Number.isInteger(done))}
      </span>
      <progress value={done} max={total} aria-label="Steps of imitation done" />
      <span className="phase-amount">{still ? 'paused' : left === null ? '' : `${duration(left)} left`}</span>
    </span>
  );
}

const STARTING: Partial<Record<Phase, string>> = { compiling: 'compiling shaders', 'warm-start': 'warm start' };

function PhaseBar() {
  const phase = useLive((s) => (s.finished ? 'idle' : s.phase));
  const done = useLive((s) => s.phaseDone);
  const total = useLive((s) => s.phaseTotal);
  const left = useLive((s) => s.phaseLeft);
  const starting = useLive((s) => s.session === 'starting');
  const still = useLive((s) => !s.running && !s.stepping);
  if (phase === 'imitating') return <Imitating />;
  // on the CPU there are no shaders to compile
  const early = phase === 'compiling' && total === 0 ? 'starting the engine' : STARTING[phase];
  const amount = total > 1 ? ` ${done}/${total}` : '';
  if (early) {
    return (
      <span className="line phases" data-testid="phase">
        <span className="phase" data-now="true">
          {early}
          {amount}
        </span>
        {total > 0 && <progress value={done} max={total} aria-label={early} />}
        {left !== null && <span className="phase-amount">{duration(left)} left</span>}
      </span>
    );
  }
  if (starting) {
    return (
      <span className="line phases" data-testid="phase">
        <span className="phase" data-now="true">
          starting the engine
        </span>
      </span>
    );
  }
  return (
    <span
      className="line phases"
      data-testid="phase"
      title="Stages of an update: sample rollouts, score the tokens (compute their log-probabilities), credit (compute advantages), update the weights, evaluate. The current one is lit."
    >
      {STAGES.map((stage) => (
        <span key={stage.phase} className="phase" data-now={stage.phase === phase}>
          {stage.label}
          {stage.phase === phase && !still && amount}
        </span>
      ))}
      <span className="phase-amount">{phase !== 'idle' && still ? 'paused' : ''}</span>
    </span>
  );
}

const LOOK_MS = 5000;

/** When the run under way was saved last, or why it is not. A hidden page draws nothing: it catches up when it is looked at. */
function SaveStatus() {
  const [{ savedAt, refused, now }, setSeen] = useState(lastSave);
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden) setSeen(lastSave());
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

function lastSave() {
  const { savedAt, refused } = useRuns.getState();
  return { savedAt, refused, now: Date.now() };
}

import { useEffect, useState } from 'react';
import type { MetricName, Metrics } from '../../domain/metrics.ts';
import { download } from '../../page/browser/fileDownload.ts';
import { fence } from '../../page/training/engine.ts';
import { bytes, count, percent } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Header } from '../frame/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { run as startTraining } from '../../page/training/transport.ts';
import { KernelPanel } from './KernelPanel.tsx';
import { StagePanel } from './StagePanel.tsx';
import {
  recentTimes,
  meanTimes,
  useProfile,
  type MeasuredProfile,
  type MeanTimes,
} from '../../page/view/profileStore.ts';
import type { ChoiceReason } from '../../config/kernelChoice.ts';
import { type AdapterReport, REPORT_KIND, REPORT_VERSION } from '../../domain/adapterReport.ts';
import { roofline, type UpdateTimes } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import './profile.css';

export function Profile() {
  useProfile((s) => s.version);
  const mean = meanTimes(recentTimes());
  const measured = useProfile((s) => s.measured);
  useEffect(() => {
    fence(true);
    return () => fence(false);
  }, []);
  return (
    <>
      <Header />
      <main className="profile screen pane" data-pane="watch">
        <div className="stack profile-column">
          {mean ? <StagePanel mean={mean} /> : <NoProfile />}
          {mean && <KernelPanel />}
        </div>
        <div className="stack profile-column">
          <Counts />
          {measured && <Memory measured={measured} />}
          <ExportPanel />
          <KernelChoicePanel />
        </div>
      </main>
      <StatusLine />
    </>
  );
}

function NoProfile() {
  const hasSession = useLive((s) => s.session !== 'none');
  return (
    <section className="panel empty" aria-label="Profile">
      <p>
        {hasSession
          ? 'The first update is still running.'
          : 'The first update of a run measures the speed of your machine. The recorded run that the page starts with was made on another machine.'}
      </p>
      {!hasSession && (
        <button type="button" className="primary" onClick={startTraining}>
          <Icon name="play" /> Run training
        </button>
      )}
    </section>
  );
}

const COUNTS: readonly (readonly [metric: MetricName, label: string, text: (value: number) => string])[] = [
  ['engine/tokens_per_second', 'tokens per second', count],
  ['engine/trained_tokens', 'tokens trained on', count],
  ['engine/computed_tokens', 'tokens computed for that', count],
  ['engine/dispatches', 'GPU programs started (dispatches)', count],
  ['engine/submits', 'batches of commands sent (submits)', count],
  ['engine/readbacks', 'results copied back (read-backs)', count],
  ['engine/upload_bytes', 'bytes uploaded to the GPU', bytes],
  [
    'engine/creations',
    'GPU objects created: buffers (memory), bind groups (which buffers a program uses), pipelines (compiled programs)',
    count,
  ],
];

/** Counts of the last update's work on the device. They are the same on every adapter. */
function Counts() {
  useLive((s) => s.metricsVersion);
  const backend = useLive((s) => s.backend);
  const onCpu = backend?.kind === 'cpu'; // the CPU backend has no dispatches to count
  const shownCounts = COUNTS.filter(
    ([metric]) =>
      useLive.getState().metrics[metric] !== undefined && !(onCpu && useLive.getState().metrics[metric] === 0),
  );
  return (
    <section className="panel" aria-labelledby="counts-title">
      <div className="panel-head">
        <h2 id="counts-title">Counts</h2>
        <span className="faint">of the last update</span>
      </div>
      {backend?.reason && <p className="faint">{backend.reason}</p>}
      {shownCounts.length === 0 && (
        <p className="faint">After the first update you see here: {COUNTS.map(([, label]) => label).join('; ')}.</p>
      )}
      <dl className="profile-counts grid gap-4">
        {shownCounts.map(([metric, label, text]) => (
          <div key={metric}>
            <dt>{label}</dt>
            <dd>{text(useLive.getState().metrics[metric] ?? 0)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Memory({ measured }: { readonly measured: MeasuredProfile }) {
  const storesFloat16 = useLive((s) => s.backend?.storage === 'f16');
  const memory = measured.profile.memory.toSorted((a, b) => b.bytes - a.bytes);
  const sum = memory.reduce((all, part) => all + part.bytes, 0);
  return (
    <section className="panel" aria-labelledby="memory-title">
      <div className="panel-head">
        <h2 id="memory-title">Memory</h2>
        <span className="faint">
          {bytes(sum)}, allocated once
          {storesFloat16 && '; cache, activations and matrix weights in f16'}
        </span>
      </div>
      <table className="ruled profile-table">
        <tbody>
          {memory.map((part) => (
            <tr key={part.purpose}>
              <th scope="row">{part.purpose}</th>
              <td className="number">{bytes(part.bytes)}</td>
              <td className="number">{percent(part.bytes / sum)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ExportPanel() {
  const [message, setMessage] = useState('');
  const backend = useLive((s) => s.backend);
  const parameters = useLive((s) => s.parameters);
  const memoryBytes = useLive((s) => s.memoryBytes);
  const measured = useProfile((s) => s.measured);
  if (!backend) return null;
  const share = async () => {
    const text = reportOf(
      backend,
      { parameters, memoryBytes },
      useLive.getState().metrics,
      meanTimes(recentTimes()),
      measured,
    );
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied.');
    } catch {
      // a page on plain http has no clipboard
      download('adapter.json', 'application/json', text);
      setMessage('The browser blocks the clipboard. The file was downloaded instead.');
    }
  };
  const trace = () => download('trace.json', 'application/json', traceOf(recentTimes(), backend.adapter, measured));
  return (
    <section className="panel row" aria-label="Export the profile">
      <button type="button" onClick={() => void share()}>
        Share my adapter
      </button>
      <button type="button" onClick={trace}>
        Download Chrome trace
      </button>
      <span className="faint" role="status">
        {message || (measured ? 'Copies the measurements as JSON.' : 'Measure first to include the kernels.')}
      </span>
    </section>
  );
}

const CHOICE_REASONS: Readonly<Record<ChoiceReason, string>> = {
  default: 'The kernels for this kind of adapter.',
  forced: 'Set by the knob Kernels.',
  resumed: 'The kernels the run began with. Others would round differently.',
};

function KernelChoicePanel() {
  const kernels = useLive((s) => s.backend?.kernels);
  if (!kernels) return null;
  return (
    <section className="panel profile-choice" aria-labelledby="choice-title" data-testid="choice">
      <div className="panel-head">
        <h2 id="choice-title">Choice of kernels</h2>
        <span className="chip">{kernels.why}</span>
      </div>
      <p>
        <b>{kernels.choice}</b> <span className="faint">{CHOICE_REASONS[kernels.why]}</span>
      </p>
    </section>
  );
}

/** One complete event of the Trace Event Format; times in µs. */
interface TraceEvent {
  readonly name: string;
  readonly ph: 'X' | 'M';
  readonly ts: number;
  readonly dur?: number;
  readonly pid: 1;
  readonly tid: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

// ids of the threads in the trace
const UPDATES_THREAD = 1;
const STAGES_THREAD = 2;
const KERNELS_THREAD = 3;

const threadName = (tid: number, name: string): TraceEvent => ({
  ...{ name: 'thread_name', ph: 'M', ts: 0, pid: 1, tid },
  args: { name },
});

/**
 * Updates and their stages in the format that chrome://tracing and Perfetto read. If kernels were measured, also the
 * mean time of each kernel in an update. The kernels stand one after the other from the start of the last update,
 * because they were timed separately.
 */
function traceOf(times: readonly UpdateTimes[], backend: string, measured: MeasuredProfile | null): string {
  const events = times.flatMap(({ update, ms, fenced, spans }): TraceEvent[] => {
    const startMs = spans[0]?.start ?? 0;
    const end = spans.at(-1);
    return [
      {
        ...{ name: `update ${update}`, ph: 'X', pid: 1, tid: UPDATES_THREAD, ts: 1000 * startMs },
        dur: 1000 * (end ? end.start + end.ms - startMs : 0), // including pauses
        args: { ms, fenced, backend },
      },
      ...spans.map(({ stage, start, ms: stageMs }): TraceEvent => ({
        ...{ name: stage, ph: 'X', pid: 1, tid: STAGES_THREAD, ts: 1000 * start, dur: 1000 * stageMs },
        args: { update },
      })),
    ];
  });
  const traceEvents = [
    threadName(UPDATES_THREAD, 'updates'),
    threadName(STAGES_THREAD, `stages, ${backend}`),
    ...events,
  ];
  if (measured) traceEvents.push(...kernelEvents(measured, times.at(-1)?.spans[0]?.start ?? 0));
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents });
}

/** The events of the kernels. `startMs`: start of the first one, in ms. */
function kernelEvents({ profile, updates }: MeasuredProfile, startMs: number): TraceEvent[] {
  let ts = 1000 * startMs;
  const events = profile.kernels.map((kernel): TraceEvent => {
    const { name, calls, flops, bytes, ms } = kernel;
    const dur = (1000 * (ms ?? 0)) / updates;
    const each = { calls: calls / updates, flops: flops / updates, bytes: bytes / updates, timed: ms !== null };
    const event: TraceEvent = {
      ...{ name, ph: 'X', pid: 1, tid: KERNELS_THREAD, ts, dur },
      args: { ...each, ...roofline(kernel, profile.ceilings) },
    };
    ts += dur;
    return event;
  });
  return [threadName(KERNELS_THREAD, `kernels, mean of ${updates} updates, end to end`), ...events];
}

/** JSON of the run and, if they were measured, its kernels: see src/domain/adapterReport.ts. */
function reportOf(
  backend: BackendInfo,
  model: { readonly parameters: number; readonly memoryBytes: number },
  metrics: Metrics,
  mean: MeanTimes | null,
  measured: MeasuredProfile | null,
): string {
  const perUpdate = Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith('engine/')));
  const stagesMs = mean && {
    ...Object.fromEntries(mean.stages),
    ...{ whole: mean.ms, updates: mean.updates, fenced: mean.fenced },
  };
  const parts = [
    { name: 'run', numbers: { backend, model, perUpdate, stagesMs } },
    ...(measured ? partsOf(measured) : []),
  ];
  const report: AdapterReport = {
    ...{ kind: REPORT_KIND, version: REPORT_VERSION, date: new Date().toISOString(), writtenBy: 'page' },
    ...{
      platform: navigator.userAgent,
      cores: navigator.hardwareConcurrency,
      adapter: backend.adapter,
      software: backend.kind === 'gpu' ? backend.software : null, // unknown if the run doesn't use a GPU
    },
    parts: parts.map((part) => ({ ...part, outcome: 'passed', seconds: null, why: '' })),
  };
  return JSON.stringify(report, null, 1);
}

function partsOf({ profile, updates }: MeasuredProfile) {
  const { variant, clock, ceilings, memory } = profile;
  const kernelsPerUpdate = profile.kernels.map((kernel) => {
    const { name, calls, flops, bytes, ms } = kernel;
    const each = (sum: number) => sum / updates;
    return {
      ...{ name, calls: each(calls), flops: each(flops), bytes: each(bytes), ms: ms === null ? null : each(ms) },
      ...roofline(kernel, ceilings),
    };
  });
  return [{ name: 'kernels', numbers: { variant, clock, ceilings, kernelsPerUpdate, memory } }];
}

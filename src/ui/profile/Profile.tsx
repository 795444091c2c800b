import { useEffect, useState } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { download } from '../export/fileDownload.ts';
import { fence } from '../run/engine.ts';
import { bytes, count, percent } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { run as startTraining } from '../run/transport.ts';
import '../styles/profile.css';
import { reportOf, traceOf } from './profileExports.ts';
import { ChoicePanel } from './ChoicePanel.tsx';
import { KernelPanel } from './KernelPanel.tsx';
import { StagePanel } from './StagePanel.tsx';
import { keptTimes, meanTimes, useProfile, type Measured } from './profileStore.ts';

/** Where the time goes: stages of an update, kernels against the device's ceilings, memory, and what to tell others. */
export function Profile() {
  useProfile((s) => s.version);
  const mean = meanTimes(keptTimes());
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
          {mean ? <StagePanel mean={mean} /> : <Empty />}
          {mean && <KernelPanel />}
        </div>
        <div className="stack profile-column">
          <Counts />
          {measured && <Memory measured={measured} />}
          <Share />
          <ChoicePanel />
        </div>
      </main>
      <StatusLine />
    </>
  );
}

function Empty() {
  const started = useLive((s) => s.session !== 'none');
  return (
    <section className="panel empty" aria-label="Profile">
      <p>
        {started
          ? 'The first update is still running.'
          : 'Run one update to measure it on your machine. The recording ran on another machine.'}
      </p>
      {!started && (
        <button type="button" className="primary" onClick={startTraining}>
          <Icon name="play" /> Run it
        </button>
      )}
    </section>
  );
}

const COUNTS: readonly (readonly [metric: MetricName, label: string, text: (value: number) => string])[] = [
  ['engine/tokens_per_second', 'tokens a second', count],
  ['engine/dispatches', 'dispatches', count],
  ['engine/submits', 'submits', count],
  ['engine/readbacks', 'read-backs', count],
  ['engine/upload_bytes', 'uploaded to the GPU', bytes],
  ['engine/creations', 'buffers, bind groups and pipelines created', count],
];

/** What the last update asked of the device: counts that hold on any adapter. */
function Counts() {
  useLive((s) => s.metricsVersion);
  const backend = useLive((s) => s.backend);
  const onCpu = backend?.kind === 'cpu'; // it has no dispatches to count
  const counted = COUNTS.filter(
    ([metric]) => live.metrics[metric] !== undefined && !(onCpu && live.metrics[metric] === 0),
  );
  return (
    <section className="panel" aria-labelledby="counts-title">
      <div className="panel-head">
        <h2 id="counts-title">Counts</h2>
        <span className="faint">of the last update</span>
      </div>
      {backend?.reason && <p className="faint">{backend.reason}</p>}
      {counted.length === 0 && (
        <p className="faint">The first update brings these counts: {COUNTS.map(([, label]) => label).join('; ')}.</p>
      )}
      <dl className="profile-counts">
        {counted.map(([metric, label, text]) => (
          <div key={metric}>
            <dt>{label}</dt>
            <dd>{text(live.metrics[metric] ?? 0)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Memory({ measured }: { readonly measured: Measured }) {
  const halves = useLive((s) => s.backend?.storage === 'f16');
  const memory = measured.profile.memory.toSorted((a, b) => b.bytes - a.bytes);
  const sum = memory.reduce((all, part) => all + part.bytes, 0);
  return (
    <section className="panel" aria-labelledby="memory-title">
      <div className="panel-head">
        <h2 id="memory-title">Memory</h2>
        <span className="faint">
          {bytes(sum)}, allocated once
          {halves && '; cache, activations and matrix weights in f16'}
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

function Share() {
  const [said, setSaid] = useState('');
  const backend = useLive((s) => s.backend);
  const parameters = useLive((s) => s.parameters);
  const memoryBytes = useLive((s) => s.memoryBytes);
  const measured = useProfile((s) => s.measured);
  if (!backend) return null;
  const share = async () => {
    const text = reportOf(backend, { parameters, memoryBytes }, live.metrics, meanTimes(keptTimes()), measured);
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      // a page on plain http has no clipboard
      download('adapter.json', 'application/json', text);
      setSaid('The browser blocks the clipboard. The file was downloaded instead.');
    }
  };
  const trace = () => download('trace.json', 'application/json', traceOf(keptTimes(), backend.adapter, measured));
  return (
    <section className="panel row" aria-label="Export the profile">
      <button type="button" onClick={() => void share()}>
        Share my adapter
      </button>
      <button type="button" onClick={trace}>
        Download Chrome trace
      </button>
      <span className="faint" role="status">
        {said || (measured ? 'Copies the measurements as JSON.' : 'Measure first to include the kernels.')}
      </span>
    </section>
  );
}

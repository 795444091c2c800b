import { useState } from 'react';
import { roofline, type KernelClock, type KernelWork } from '../../domain/profile.ts';
import { bytes, count, percent, shortNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { measure } from '../../page/training/engine.ts';
import { useProfile, type MeasuredProfile } from '../../page/view/profileStore.ts';

const CLOCK_TEXTS: Readonly<Record<KernelClock, string>> = {
  timestamps: 'GPU timestamps around repeats of each kernel',
  queue: 'the queue’s clock around repeats of each kernel',
  CPU: 'CPU',
};

export function KernelPanel() {
  const measured = useProfile((s) => s.measured);
  const busy = useProfile((s) => s.isMeasuring);
  const problem = useProfile((s) => s.problem);
  const running = useLive((s) => s.running);
  return (
    <section className="panel profile-kernels" aria-labelledby="kernels-title" data-testid="kernels">
      <div className="panel-head">
        <h2 id="kernels-title">Kernels</h2>
        {measured && <span className="chip">{CLOCK_TEXTS[measured.profile.clock]}</span>}
        <button type="button" disabled={busy} onClick={() => void measureNow()}>
          {busy ? (running ? 'Measuring after this update…' : 'Measuring…') : measured ? 'Measure again' : 'Measure'}
        </button>
      </div>
      {problem && (
        <p className="note" role="alert">
          {problem}
        </p>
      )}
      {measured ? (
        <KernelTable measured={measured} />
      ) : (
        <p className="empty">
          Measures the peak speed of this device and times every kernel of an update. The run pauses for a few seconds
          and then continues unchanged.
        </p>
      )}
    </section>
  );
}

async function measureNow(): Promise<void> {
  useProfile.setState({ isMeasuring: true, problem: null });
  const answer = await measure();
  if (answer.kind === 'profile') useProfile.setState({ measured: answer, isMeasuring: false });
  else
    useProfile.setState({
      isMeasuring: false,
      problem: answer.kind === 'refused' ? answer.message : 'The engine sent an unexpected answer. Try again.',
    });
}

function KernelTable({ measured: { profile, updates } }: { readonly measured: MeasuredProfile }) {
  const [openKernel, setOpen] = useState<string | null>(null);
  const { ceilings, kernels, variant } = profile;
  const totalMs = kernels.reduce((all, { ms }) => all + (ms ?? 0), 0);
  const sorted = kernels.toSorted((a, b) => (b.ms ?? 0) - (a.ms ?? 0));
  const source = kernels.find(({ name }) => name === openKernel)?.source ?? '';
  return (
    <>
      <p className="faint">
        Per update, mean of {updates}; {shortNumber(totalMs / updates)} ms in all. Kernels: {variant}. Measured here:{' '}
        {shortNumber(ceilings.gflops)} GFLOP/s by the best product, {shortNumber(ceilings.gbps)} GB/s copied
        {ceilings.launchUs > 0 &&
          `, ${shortNumber(ceilings.launchUs)} µs a dispatch, ${shortNumber(ceilings.readbackUs)} µs a read-back`}
        . FLOPs and least bytes are counted from the sizes.
      </p>
      <div className="scroll" role="region" aria-label="Kernels by time" tabIndex={0}>
        <table className="ruled profile-table">
          <thead>
            <tr>
              <th scope="col">Kernel</th>
              {['calls', 'ms', 'share', 'GFLOP/s', 'GB/s'].map((name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
              <th scope="col">limit</th>
              <th
                scope="col"
                className="number"
                title="Share of the fastest rate that its limit (arithmetic or memory) allows"
              >
                of limit
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((kernel) => (
              <KernelRow
                key={kernel.name}
                {...{ kernel, updates, totalMs }}
                roof={roofline(kernel, ceilings)}
                open={openKernel === kernel.name}
                toggle={() => setOpen(openKernel === kernel.name ? null : kernel.name)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {openKernel !== null && source && (
        <figure className="profile-source">
          <figcaption>{openKernel}.wgsl</figcaption>
          <pre translate="no" role="region" aria-label={`Source of ${openKernel}`} tabIndex={0}>
            {source}
          </pre>
        </figure>
      )}
    </>
  );
}

interface KernelRowProps {
  readonly kernel: KernelWork;
  readonly roof: ReturnType<typeof roofline>;
  readonly updates: number;
  readonly totalMs: number;
  readonly open: boolean;
  readonly toggle: () => void;
}

function KernelRow({ kernel, roof, updates, totalMs, open, toggle }: KernelRowProps) {
  const { name, calls, flops, bytes: bytesMoved, ms, source } = kernel;
  const work = `${count(flops / updates)}FLOP, ${bytes(bytesMoved / updates)} an update`;
  return (
    <tr title={work}>
      <th scope="row">
        {source ? (
          <button type="button" className="quiet" aria-expanded={open} onClick={toggle}>
            {name}
          </button>
        ) : (
          name
        )}
      </th>
      <td className="number">{shortNumber(calls / updates)}</td>
      <td className="number">{ms === null ? 'not timed' : shortNumber(ms / updates)}</td>
      <td className="number">{ms === null ? '' : percent(ms / totalMs)}</td>
      <td className="number">{shortNumber(roof?.gflops)}</td>
      <td className="number">{shortNumber(roof?.gbps)}</td>
      <td>{roof?.limiter ?? ''}</td>
      <td className="number">{roof && roof.share > 1 ? '100 %+' : percent(roof?.share)}</td>
    </tr>
  );
}

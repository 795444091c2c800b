import type { ChoiceReason, KernelReport, TriedSet } from '../../config/kernelChoice.ts';
import { short } from '../parts/numberText.ts';
import { useLive } from '../run/liveStore.ts';
import { useProfile } from './profileStore.ts';

const WHY: Readonly<Record<ChoiceReason, string>> = {
  default: 'Safe kernels for this kind of adapter: nothing was measured on it when this run began.',
  forced: 'Set by the knob Kernels.',
  resumed: 'The kernels the run began with. Others would round differently.',
  measured: 'The fastest correct kernels, measured on this adapter during an earlier run of this shape.',
};

/** Which of several sets of kernels that compute the same this run uses, why, and what was measured of the others. */
export function ChoicePanel() {
  const kernels = useLive((s) => s.backend?.kernels);
  const tuned = useProfile((s) => s.measured?.tuned);
  if (!kernels) return null;
  return (
    <section className="panel profile-choice" aria-labelledby="choice-title" data-testid="choice">
      <div className="panel-head">
        <h2 id="choice-title">Choice of kernels</h2>
        <span className="chip">{kernels.why}</span>
      </div>
      <p>
        <b>{kernels.choice}</b> <span className="faint">{WHY[kernels.why]}</span>
      </p>
      {tuned && (
        <p>
          Measured in the meantime, for the next start: <b>{tuned.choice}</b>
        </p>
      )}
      <Tried report={tuned ?? kernels} />
    </section>
  );
}

function Tried({ report: { tried } }: { readonly report: KernelReport }) {
  if (tried.length === 0) return null;
  return (
    <>
      <div className="scroll" role="region" aria-label="Kernels tried" tabIndex={0}>
        <table className="ruled profile-table">
          <thead>
            <tr>
              <th scope="col">Set</th>
              <th scope="col" className="number">
                ms
              </th>
              <th scope="col" className="number" title="Against the set that the tuning began with">
                speed-up
              </th>
              <th scope="col" className="number" title="Relative, of gradients and log-probabilities against the CPU’s">
                error
              </th>
              <th scope="col">verdict</th>
            </tr>
          </thead>
          <tbody>
            {tried.map((each) => (
              <Row key={each.set} each={each} first={tried[0]?.ms ?? null} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="faint">Shortest time of a training step of a small run with this model’s widths.</p>
    </>
  );
}

function Row({ each, first }: { readonly each: TriedSet; readonly first: number | null }) {
  const { set, ms, error, refused, taken } = each;
  return (
    <tr>
      <th scope="row">{set}</th>
      <td className="number">{ms === null ? 'not timed' : short(ms)}</td>
      <td className="number">{ms === null || first === null ? '' : `${short(first / ms)}×`}</td>
      <td className="number">{error === null ? '' : error.toExponential(0)}</td>
      <td>
        {taken && <b>taken</b>} {refused || (!taken && 'no faster')}
      </td>
    </tr>
  );
}

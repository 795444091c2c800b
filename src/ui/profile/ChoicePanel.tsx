import { nameOfChoice, type ChoiceReason, type KernelReport, type TriedVariant } from '../../config/kernelChoice.ts';
import { short } from '../parts/format.ts';
import { useLive } from '../run/liveStore.ts';
import { useProfile } from './store.ts';

const WHY: Readonly<Record<ChoiceReason, string>> = {
  default: 'Safe ones for such an adapter: nothing had been measured on it when this run began.',
  forced: 'As the knob Kernels says.',
  resumed: 'Those the run began with: others would round otherwise.',
  measured: 'The fastest right ones, measured on this adapter during an earlier run of this shape.',
};

/** Which of several kernels that compute the same this run uses, why, and what was measured of the others. */
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
        <b>{nameOfChoice(kernels.choice)}</b> <span className="faint">{WHY[kernels.why]}</span>
      </p>
      {tuned && (
        <p>
          Measured meanwhile, for the next start: <b>{nameOfChoice(tuned.choice)}</b>
        </p>
      )}
      <Tried report={tuned ?? kernels} />
    </section>
  );
}

/** Families of which all, and of which not all was measured, in words; '' where nothing is left. */
function progress(tried: readonly TriedVariant[]): string {
  const families = [...new Set(tried.map(({ family }) => family))].map((name) => {
    const rows = tried.filter(({ family }) => family === name);
    return { name, all: rows.length, left: rows.filter(waits).length };
  });
  const whole = families.filter(({ left }) => left === 0).map(({ name }) => name);
  const rest = families
    .filter(({ left }) => left > 0)
    .map(({ name, all, left }) => (left < all - 1 ? `${name} (${left} of ${all})` : name));
  if (rest.length === 0) return '';
  const done = whole.length > 0 ? `Measured: ${whole.join(', ')}. ` : '';
  return `${done}Still to measure: ${rest.join(', ')}.`;
}

const waits = ({ waits: times, taken }: TriedVariant) => times !== null && !taken;

function Tried({ report: { tried } }: { readonly report: KernelReport }) {
  if (tried.length === 0) return null;
  return (
    <>
      <div className="scroll" role="region" aria-label="Kernels tried" tabIndex={0}>
        <table className="ruled profile-table">
          <thead>
            <tr>
              <th scope="col">Family</th>
              <th scope="col">variant</th>
              <th scope="col" className="number">
                ms
              </th>
              <th scope="col" className="number" title="Against the variant that its family began with">
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
              <Row
                key={`${each.family} ${each.variant}`}
                each={each}
                first={tried.find(sameFamily(each))?.ms ?? null}
              />
            ))}
          </tbody>
        </table>
      </div>
      {progress(tried) !== '' && <p>{progress(tried)}</p>}
      <p className="faint">
        Least time of a training step of a small run with this model’s widths, the other families at their best so far.
      </p>
    </>
  );
}

const sameFamily = (each: TriedVariant) => (other: TriedVariant) => other.family === each.family;

function Row({ each, first }: { readonly each: TriedVariant; readonly first: number | null }) {
  const { family, variant, ms, error, refused, taken } = each;
  return (
    <tr>
      <th scope="row">{family}</th>
      <td>{variant}</td>
      <td className="number">{ms === null ? 'n/a' : short(ms)}</td>
      <td className="number">{ms === null || first === null ? '' : `${short(first / ms)}×`}</td>
      <td className="number">{error === null ? '' : error.toExponential(0)}</td>
      <td>
        {taken && <b>taken</b>} {refused || (!taken && (waits(each) ? 'untried' : 'no faster'))}
      </td>
    </tr>
  );
}

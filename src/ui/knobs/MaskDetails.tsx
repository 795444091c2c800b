import { FIELDS, type FieldName } from '../../config/config.ts';
import { useConfig, editKnobs } from '../../page/knobs/configStore.ts';
import {
  agentOnly,
  isMaskKnob,
  MASK_SWITCHES,
  type MaskKnob,
  ownMasks,
  USUAL_OBSERVATION_LOSS,
} from '../../config/masks.ts';
import { Knob } from './Knob.tsx';
import { METRICS } from '../../domain/metrics.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { maskPhrase, invariants, checkInvariant, type Invariant } from '../../page/words/maskSentence.ts';
import './masks.css';

const EXPERT_KNOBS = (Object.keys(FIELDS) as FieldName[]).filter((name) => FIELDS[name].group === 'expert');

export function MaskDetails() {
  return (
    <div className="mask-details">
      <MaskTable />
      <MaskInvariants />
      <ExpertMasks names={EXPERT_KNOBS} />
    </div>
  );
}

/** The six places where a mask acts. Each follows its switch or is set on its own. */
function ExpertMasks({ names }: { readonly names: readonly FieldName[] }) {
  return (
    <details className="subgroup" data-group="expert">
      <summary>
        <h3>Advanced: where each mask acts</h3>
      </summary>
      {names.map((name) => (
        <div key={name} className="place">
          <Knob name={name} />
          {isMaskKnob(name) && <PlaceState place={name} />}
        </div>
      ))}
    </details>
  );
}

function PlaceState({ place }: { readonly place: MaskKnob }) {
  const isOn = useConfig((s) => agentOnly(s.wanted, place));
  const follows = useConfig((s) => s.wanted[place] === 'follow');
  return (
    <p className="faint">
      {follows ? `Follows the ${FIELDS[MASK_SWITCHES[place]].label.toLowerCase()}, now ` : 'Now '}
      <b>{isOn ? 'on' : 'off'}</b>: {isOn ? 'the agent’s words only' : 'the tool’s words too'}
    </p>
  );
}

/** Numbers counted on the tensors of the last update, each with its expected value under that update's masks. */
export function MaskInvariants() {
  useLive((s) => s.metricsVersion);
  const update = useLive((s) => s.update);
  const { config, metrics } = useLive.getState();
  const measured = config && invariants(config).some(({ metric }) => metrics[metric] !== undefined);
  return (
    <section className="small invariants" aria-labelledby="invariants" data-testid="invariants">
      <h3 id="invariants">{measured ? `Measured in update ${update}` : 'Measured in training'}</h3>
      {measured ? (
        <dl>
          {invariants(config).map((each) => (
            <InvariantRow key={each.metric} invariant={each} value={metrics[each.metric]} />
          ))}
        </dl>
      ) : (
        <p className="faint">
          After the first update you see here how many observation tokens were trained, and whether untrained tokens got
          a reward.
        </p>
      )}
    </section>
  );
}

const VERDICTS: Readonly<
  Record<ReturnType<typeof checkInvariant>, { readonly icon: IconName; readonly text: string }>
> = {
  holds: { icon: 'check', text: 'holds' },
  broken: { icon: 'alert', text: 'should be 0' },
  none: { icon: 'minus', text: 'none this time' },
};

function InvariantRow({ invariant, value }: { readonly invariant: Invariant; readonly value: number | undefined }) {
  const { label, doc, unit } = METRICS[invariant.metric];
  const verdict = value === undefined ? null : checkInvariant(invariant, value);
  const expectedText = invariant.expected === 'zero' ? '0' : '> 0';
  return (
    <div title={doc} data-verdict={verdict}>
      <dt>{label}</dt>
      <dd>
        <b>{shortNumber(value)}</b> {unit === 'tokens' && 'tokens'}
        <span className="faint"> expected {expectedText}</span>
        {verdict && (
          <span className="line end verdict-word">
            <Icon name={VERDICTS[verdict].icon} /> {VERDICTS[verdict].text}
          </span>
        )}
      </dd>
    </div>
  );
}

const STATES = ['on', 'off'] as const;
/** What the loss does with observations, and the knobs that make it so. */
const LOSS_STATES = [
  { label: 'loss mask off', lossMask: 'off', isPredicted: false },
  { label: 'loss mask on', lossMask: 'on', isPredicted: false },
  { label: 'on, and predicted', lossMask: 'on', isPredicted: true },
] as const;

function MaskTable() {
  const overridden = useConfig((s) => ownMasks(s.wanted).length > 0);
  return (
    <table className="mask-table">
      <caption>Observation tokens, in each of the six cases{overridden && ' with the overrides below'}</caption>
      <thead>
        <tr>
          <td />
          {STATES.map((state) => (
            <th key={state} scope="col">
              advantage mask {state}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {LOSS_STATES.map(({ label, lossMask, isPredicted }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {STATES.map((advantageMask) => (
              <td key={advantageMask}>
                <MaskCase {...{ lossMask, advantageMask, isPredicted }} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface MaskCaseProps {
  readonly lossMask: 'on' | 'off';
  readonly advantageMask: 'on' | 'off';
  readonly isPredicted: boolean; // the observation loss is on
}

function MaskCase({ lossMask, advantageMask, isPredicted }: MaskCaseProps) {
  const observationLoss = useConfig(({ wanted }) =>
    isPredicted ? wanted.observationLoss || USUAL_OBSERVATION_LOSS : 0,
  );
  const phrase = useConfig((s) => maskPhrase({ ...s.wanted, lossMask, advantageMask, observationLoss }));
  const isCurrent = useConfig(
    ({ wanted }) =>
      wanted.lossMask === lossMask &&
      wanted.advantageMask === advantageMask &&
      // with the loss mask off the observation loss has no effect
      (lossMask === 'off' || wanted.observationLoss === observationLoss),
  );
  return (
    <button
      type="button"
      aria-pressed={isCurrent}
      onClick={() => editKnobs({ lossMask, advantageMask, observationLoss })}
    >
      {isCurrent && <span className="chip here">now</span>} {phrase}
    </button>
  );
}

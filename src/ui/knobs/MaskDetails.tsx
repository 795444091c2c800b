import { FIELDS, type FieldName } from '../../config/config.ts';
import '../styles/masks.css';
import { useConfig, edit } from './configStore.ts';
import { agentOnly, isPlace, PLACES, type Place, overrides } from '../../config/masks.ts';
import { Knob } from './Knob.tsx';
import { METRICS } from '../../domain/metrics.ts';
import { short } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import { invariants, judge, type Invariant } from './maskChecks.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { useShallow } from 'zustand/react/shallow';
import { maskPhrase } from './maskSentence.ts';

const EXPERT_KNOBS = (Object.keys(FIELDS) as FieldName[]).filter((name) => FIELDS[name].group === 'expert');

/** The details of the masks: the table of four cases, the measured checks, the six places. */
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
          {isPlace(name) && <PlaceState place={name} />}
        </div>
      ))}
    </details>
  );
}

/** Says whether a place's mask is on or off now. */
function PlaceState({ place }: { readonly place: Place }) {
  const isOn = useConfig((s) => agentOnly(s.wanted, place));
  const follows = useConfig((s) => s.wanted[place] === 'follow');
  return (
    <p className="faint">
      {follows ? `Follows the ${FIELDS[PLACES[place]].label.toLowerCase()}, now ` : 'Now '}
      <b>{isOn ? 'on' : 'off'}</b>: {isOn ? 'the agent’s words only' : 'the tool’s words too'}
    </p>
  );
}

/** Numbers counted on the tensors of the last update, each with its expected value under that update's masks. */
export function MaskInvariants() {
  useLive((s) => s.metricsVersion);
  const update = useLive((s) => s.update);
  const { config, metrics } = live;
  const measured = config && invariants(config).some(({ metric }) => metrics[metric] !== undefined);
  return (
    <section className="small invariants" aria-labelledby="invariants" data-testid="invariants">
      <h3 id="invariants">{measured ? `Measured in update ${update}` : 'Measured in training'}</h3>
      {measured ? (
        <dl>
          {invariants(config).map((each) => (
            <Row key={each.metric} invariant={each} value={metrics[each.metric]} />
          ))}
        </dl>
      ) : (
        <p className="faint">
          After the first update this shows whether any observation token was trained, and how much reward fell on
          tokens that aren’t trained.
        </p>
      )}
    </section>
  );
}

const VERDICTS: Readonly<Record<ReturnType<typeof judge>, { readonly icon: IconName; readonly text: string }>> = {
  holds: { icon: 'check', text: 'holds' },
  broken: { icon: 'alert', text: 'should be 0' },
  none: { icon: 'minus', text: 'none this time' },
};

function Row({ invariant, value }: { readonly invariant: Invariant; readonly value: number | undefined }) {
  const { label, doc, unit } = METRICS[invariant.metric];
  const verdict = value === undefined ? null : judge(invariant, value);
  const wanted = invariant.expected === 'zero' ? '0' : '> 0';
  return (
    <div title={doc} data-verdict={verdict}>
      <dt>{label}</dt>
      <dd>
        <b>{short(value)}</b> {unit === 'tokens' && 'tokens'}
        <span className="faint"> expected {wanted}</span>
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

/** What happens to observation tokens in each of the four settings of the two switches, with the current algorithm. */
function MaskTable() {
  const current = useConfig(useShallow(({ wanted: { lossMask, advantageMask } }) => ({ lossMask, advantageMask })));
  const overridden = useConfig((s) => overrides(s.wanted).length > 0);
  return (
    <table className="mask-table">
      <caption>Observation tokens, in each of the four cases{overridden && ' with the overrides below'}</caption>
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
        {STATES.map((lossMask) => (
          <tr key={lossMask}>
            <th scope="row">loss mask {lossMask}</th>
            {STATES.map((advantageMask) => (
              <td key={advantageMask}>
                <Cell
                  {...{ lossMask, advantageMask }}
                  isCurrent={current.lossMask === lossMask && current.advantageMask === advantageMask}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps {
  readonly lossMask: 'on' | 'off';
  readonly advantageMask: 'on' | 'off';
  readonly isCurrent: boolean;
}

function Cell({ lossMask, advantageMask, isCurrent }: CellProps) {
  const phrase = useConfig((s) => maskPhrase({ ...s.wanted, lossMask, advantageMask }));
  return (
    <button type="button" aria-pressed={isCurrent} onClick={() => edit({ lossMask, advantageMask })}>
      {isCurrent && <span className="chip here">now</span>} {phrase}
    </button>
  );
}

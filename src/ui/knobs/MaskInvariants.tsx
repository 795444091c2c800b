import { METRICS } from '../../domain/metrics.ts';
import { short } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import { invariants, judge, type Invariant } from './maskChecks.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';

/** Numbers counted on the tensors of the last update, each beside what it should be under the masks of that update. */
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
          After the first update this shows whether any observation token was trained, and how much reward was lost.
        </p>
      )}
    </section>
  );
}

const WORDS: Readonly<Record<ReturnType<typeof judge>, { readonly icon: IconName; readonly text: string }>> = {
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
            <Icon name={WORDS[verdict].icon} /> {WORDS[verdict].text}
          </span>
        )}
      </dd>
    </div>
  );
}

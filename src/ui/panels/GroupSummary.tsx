import type { RunConfig } from '../../fields.ts';
import type { EpisodeView } from '../../protocol.ts';
import { useConfig } from '../config-store.ts';
import { short, signed } from '../format.ts';
import { groupStats } from '../rollout.ts';
import { usesGroups } from '../../estimators.ts';

interface Props {
  readonly members: readonly EpisodeView[];
  readonly chosen: EpisodeView | undefined;
  readonly kept: boolean;
}

/** Mean, spread and, where rollouts are compared, the advantage written out with the numbers on display. */
export function GroupSummary({ members, chosen, kept }: Props) {
  const estimator = useConfig((s) => (s.applied ?? s.wanted).estimator);
  const divide = useConfig((s) => (s.applied ?? s.wanted).divideByStd === 'on');
  const { mean, std } = groupStats(members.map((e) => e.reward));
  const out = !kept && (
    <span className="chip filtered" title="The group filter left this prompt out of the update">
      not learned from (filtered)
    </span>
  );
  if (members.length > 1 && std < 1e-6) {
    return (
      <p className="group-summary">
        All {members.length} scored {short(mean)}
        {usesGroups(estimator) && kept && <b> → advantage 0: this group teaches nothing</b>} {out}
      </p>
    );
  }
  return (
    <p className="group-summary" title="Standard deviation with n − 1; ε is 1e-6">
      mean <b>{short(mean)}</b> · std <b>{short(std)}</b> {out}
      {chosen && kept && (
        <Formula {...{ estimator, divide, mean, std }} reward={chosen.reward} count={members.length} />
      )}
    </p>
  );
}

interface FormulaProps {
  readonly estimator: RunConfig['estimator'];
  readonly divide: boolean;
  readonly mean: number;
  readonly std: number;
  readonly reward: number;
  readonly count: number;
}

function Formula({ estimator, divide, mean, std, reward, count }: FormulaProps) {
  if (!usesGroups(estimator) || count < 2) return null;
  const baseline = estimator === 'rloo' ? (count * mean - reward) / (count - 1) : mean;
  const divided = estimator === 'grpo' && divide;
  const advantage = (reward - baseline) / (divided ? std + 1e-6 : 1);
  return (
    <span className="formula">
      A = ({short(reward)} − {short(baseline)}){divided && ` / ${short(std)}`} = <b>{signed(advantage)}</b>
      {estimator === 'reinforce++-baseline' && ', then whitened'}
    </span>
  );
}

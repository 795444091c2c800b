import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { aroundChange } from '../../runs/aroundChange.ts';
import type { Run } from '../../runs/run.ts';
import { shownText } from '../run/shown.ts';

/** What a change of knobs is told by: what is wanted, and what goes wrong first. */
const TOLD: readonly MetricName[] = [
  ...(['rollout/success', 'rollout/in_group_reward_std', 'actor/entropy'] as const),
  ...(['actor/pg_clipfrac', 'actor/ppo_kl', 'actor/grad_norm'] as const),
];

interface Props {
  readonly run: Pick<Run, 'changes' | 'series'>;
  readonly index: number; // of the change
}

/** What the curves were before a change and have been since, in one line; it claims no cause. */
export function AroundChange({ run, index }: Props) {
  const { before, since, means } = aroundChange(run, index, TOLD);
  if (before === 0) return <span className="soft">nothing was trained before it</span>;
  if (since === 0) return <span className="soft">no update has been taken since</span>;
  return (
    <span className="soft" data-testid="around">
      {before === since ? `Means of ${since} updates` : `Means of ${before} and ${since} updates`}, before → since:{' '}
      {means.map(({ metric, before: was, since: is }, i) => (
        <span key={metric}>
          {i > 0 && ', '}
          {METRICS[metric].label} {shownText(metric, was)} → <b>{shownText(metric, is)}</b>
        </span>
      ))}
      .
    </span>
  );
}

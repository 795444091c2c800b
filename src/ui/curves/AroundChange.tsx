import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { aroundChange } from '../../runs/aroundChange.ts';
import type { Run } from '../../runs/run.ts';
import { shownText } from '../run/metricText.ts';
import '../styles/around.css';

/** What a change of knobs is told by: what is wanted, and what goes wrong first. */
const TOLD: readonly MetricName[] = [
  ...(['rollout/success', 'rollout/in_group_reward_std', 'actor/entropy'] as const),
  ...(['actor/pg_clipfrac', 'actor/ppo_kl', 'actor/grad_norm'] as const),
];

interface Props {
  readonly run: Pick<Run, 'changes' | 'series'>;
  readonly index: number; // of the change
}

/** What the curves were right before a change and right after; it claims no cause. */
export function AroundChange({ run, index }: Props) {
  const { before, after, means } = aroundChange(run, index, TOLD);
  if (before === 0) return <p className="soft around">nothing was trained before it</p>;
  if (after === 0) return <p className="soft around">no update has been taken since</p>;
  return (
    <div className="around" data-testid="around">
      <p className="soft">
        Means: {before} {before === 1 ? 'update' : 'updates'} right before → {after} right after
      </p>
      <dl>
        {means.map(({ metric, before: was, after: is }) => (
          <div className="line" key={metric}>
            <dt className="soft">{METRICS[metric].label}</dt>
            <dd>
              {shownText(metric, was)} → <b>{shownText(metric, is)}</b>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

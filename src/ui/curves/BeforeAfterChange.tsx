import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { beforeAndAfter } from '../../runs/beforeAndAfter.ts';
import type { Run } from '../../runs/run.ts';
import { shownText } from '../run/metricText.ts';
import '../styles/before-after.css';

/** What a change of knobs is told by: what is wanted, and what goes wrong first. */
const SHOWN_METRICS: readonly MetricName[] = [
  ...(['rollout/success', 'rollout/in_group_reward_std', 'actor/entropy'] as const),
  ...(['actor/pg_clipfrac', 'actor/ppo_kl', 'actor/grad_norm'] as const),
];

interface Props {
  readonly run: Pick<Run, 'changes' | 'series'>;
  readonly index: number; // of the change
}

/** What the curves were right before a change and right after; it claims no cause. */
export function BeforeAfterChange({ run, index }: Props) {
  const { before, after, means } = beforeAndAfter(run, index, SHOWN_METRICS);
  if (before === 0) return <p className="soft before-after">nothing was trained before it</p>;
  if (after === 0) return <p className="soft before-after">no update has been taken since</p>;
  return (
    <div className="before-after" data-testid="before-after">
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

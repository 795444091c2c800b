import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { beforeAndAfter } from '../../runs/beforeAndAfter.ts';
import type { Run } from '../../runs/run.ts';
import { shownText } from '../../page/words/metricText.ts';
import './beforeAfter.css';

/** The metrics shown for a change of knobs: the goal, and those that go wrong first. */
const SHOWN_METRICS: readonly MetricName[] = [
  ...(['rollout/success', 'rollout/in_group_reward_std', 'actor/entropy'] as const),
  ...(['actor/pg_clipfrac', 'actor/ppo_kl', 'actor/grad_norm'] as const),
];

interface Props {
  readonly run: Pick<Run, 'changes' | 'series'>;
  readonly index: number; // of the change
}

/** Means of the curves right before and right after a change of knobs. Claims no cause. */
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

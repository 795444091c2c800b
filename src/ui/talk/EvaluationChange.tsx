import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { percent } from '../parts/numberText.ts';
import { distinctTasks } from '../run/course.ts';
import { live, useLive } from '../run/liveStore.ts';

/** What training did to all tasks that are evaluated, beside the one that was asked; nothing until it was measured twice. */
export function EvaluationChange() {
  useLive((s) => s.metricsVersion);
  const { series, config } = live;
  const curve = series.get('eval/success');
  const [before, now] = [curve?.first, curve?.latest];
  if (!curve || !config || curve.length < 2 || before === undefined || now === undefined) return null;
  const { success } = EVALUATION_WORDS[evaluationSetOf(config)];
  return (
    <p className="soft" data-testid="talk-overall">
      One task isn’t evidence. {success} ({distinctTasks(series, config)}): {percent(before)} before training,{' '}
      <b>{percent(now)}</b> at update {curve.last}.
    </p>
  );
}

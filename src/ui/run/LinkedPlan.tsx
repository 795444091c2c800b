import { describedChanges } from '../../runs/change.ts';
import { ChangeList } from '../charts/ChangeList.tsx';
import { dropPlannedChanges, useConfig } from '../../page/knobs/configStore.ts';
import { counted } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useAwaitedUpdate } from '../../page/view/linkTargets.ts';

/** Empty once a run has begun, because its timeline and its curves show what training will bring. */
export function LinkedPlan() {
  const awaited = useAwaitedUpdate();
  const planned = useConfig((s) => s.planned);
  const hasNoRun = useLive((s) => s.session === 'none');
  const plan = hasNoRun ? planned : null;
  if (awaited === null && !plan) return null;
  return (
    <div className="line small soft linked-plan" data-testid="linked-plan">
      {awaited !== null && <p>The link shows update {awaited}. Train to it to see its rollouts here.</p>}
      {plan && (
        <details data-testid="planned">
          <summary>{counted(plan.changes.length, 'change')} of knobs on the way</summary>
          <ChangeList changes={describedChanges(plan.startConfig, plan.changes)} />
          <button type="button" className="small" onClick={dropPlannedChanges}>
            Leave the changes out
          </button>
        </details>
      )}
    </div>
  );
}

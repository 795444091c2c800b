import { Fragment } from 'react';
import { isRunArm } from '../../experiments/experimentDefinition.ts';
import { usableResult, usableShippedResult } from '../../experiments/experimentPlan.ts';
import type { RunResult, RunIdentity } from '../../experiments/runResult.ts';
import type { Table } from '../../experiments/resultTable.ts';
import { duration } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { Sparkline } from '../charts/Sparkline.tsx';
import { isSameRequest, requestFor } from '../../page/experiments/requests.ts';
import { useExperiments } from '../../page/experiments/experimentStore.ts';

interface GridProps {
  readonly runs: readonly RunIdentity[];
  readonly table: Table;
}

export function RunGrid({ runs, table }: GridProps) {
  const failed = useExperiments((s) => s.failed);
  const { plan } = table;
  const failedInPlan = failed.filter((run) => run.experiment === plan.name);
  return (
    <>
      <div className="scroll" role="region" aria-label="Runs" tabIndex={0}>
        <table className="ruled">
          <caption>
            Runs{' '}
            <span className="faint">
              {table.done} of {table.planned} done
            </span>
          </caption>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              {plan.seeds.map((seed) => (
                <th key={seed} scope="col">
                  seed {seed}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <ArmRows runs={runs} table={table} />
          </tbody>
        </table>
      </div>
      {failedInPlan.map(({ arm, seed, message }) => (
        <p key={`${arm} ${seed}`} className="note bad" role="alert">
          {arm}, seed {seed}, failed: {message} Start tries it again.
        </p>
      ))}
    </>
  );
}

function ArmRows({ runs, table }: GridProps) {
  const { seeds } = table.plan;
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shippedResults);
  const arms = table.rows.map(({ arm }) => arm).filter(isRunArm);
  return arms.map((arm, i) => (
    <Fragment key={arm.key}>
      {arm.group !== undefined && arm.group !== arms[i - 1]?.group && (
        <tr className="group-row">
          <th scope="rowgroup" colSpan={1 + seeds.length}>
            {arm.group}
          </th>
        </tr>
      )}
      <tr>
        <th scope="row">{arm.label}</th>
        {seeds.map((seed) => {
          const run = runs.find((r) => r.arm === arm.key && r.seed === seed);
          return (
            <td key={seed}>
              {run && (
                <RunState
                  run={run}
                  result={usableResult(run, results)}
                  shipped={usableShippedResult(run, shipped) !== undefined}
                />
              )}
            </td>
          );
        })}
      </tr>
    </Fragment>
  ));
}

interface RunStateProps {
  readonly run: RunIdentity;
  readonly result: RunResult | undefined;
  readonly shipped: boolean; // a run that came with the page is used instead
}

function RunState({ run, result, shipped }: RunStateProps) {
  const plan = useExperiments((s) => s.plan);
  const request = requestFor(plan, run);
  const current = useExperiments((s) => (s.current && isSameRequest(s.current.run, request) ? s.current : null));
  const paused = useExperiments((s) => s.mode === 'paused');
  const isWaiting = useExperiments((s) => s.waiting.some((other) => isSameRequest(other, request)));
  const failed = useExperiments((s) => s.failed.some((other) => isSameRequest(other, request)));
  if (result) {
    return (
      <span className="run-state" data-state="done">
        <Icon name="check" /> done <span className="faint">{duration(result.seconds)}</span>
      </span>
    );
  }
  if (current && isWaiting) {
    const { update, updates, phase, done, total } = current;
    const isImitating = phase === 'imitating' && total > 0;
    const text = isImitating ? `imitation ${done}/${total}` : `${update}/${updates}`;
    return (
      <span className="run-state" data-state="running">
        <progress
          value={isImitating ? done : update}
          max={isImitating ? total : updates}
          aria-label={`${run.arm}, seed ${run.seed}`}
        />
        {paused ? `paused ${text}` : text}
        {current.success.length > 1 && <Sparkline curves={[current.success]} />}
      </span>
    );
  }
  const state = isWaiting ? 'waiting' : failed ? 'failed' : shipped ? 'shipped' : 'not started';
  return (
    <span className="run-state" data-state={state}>
      {failed && !isWaiting && <Icon name="cross" />}
      {state === 'shipped' ? 'came with the page' : state}
    </span>
  );
}

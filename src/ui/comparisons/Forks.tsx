import { RunCurves } from '../runs/RunCurves.tsx';
import { RunRow } from '../runs/RunRow.tsx';
import { useRuns } from '../runs/runStore.ts';
import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import '../styles/runs.css';
import { ComparisonPanel } from './ComparisonPanel.tsx';

/** Comparisons that train: forks of the run in the lab and three that one press starts, with the runs that they trained and their curves. */
export function Forks() {
  return (
    <>
      <Header />
      <main className="runs screen pane" data-pane="watch">
        <section className="run-list panel" aria-label="Forks">
          <ComparisonPanel />
          <Trained />
        </section>
        <RunCurves />
      </main>
      <StatusLine />
    </>
  );
}

/** The runs that comparisons trained. */
function Trained() {
  const runs = useRuns((s) => s.runs);
  const arms = runs.filter(({ arm }) => arm !== undefined);
  if (arms.length === 0) return null;
  return (
    <>
      <div className="panel-head">
        <h2>Their runs</h2>
      </div>
      {arms.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </>
  );
}

import { useEffect, useMemo } from 'react';
import { EXPERIMENTS } from '../../experiments/experimentList.ts';
import { plannedRuns } from '../../experiments/experimentPlan.ts';
import { tableOf } from '../../experiments/resultTable.ts';
import '../styles/experiments.css';
import { routeOf } from '../address/hash.ts';
import { planHash, readPlan } from './planAddress.ts';
import { Brand } from '../shell/Brand.tsx';
import { HeaderEnd } from '../shell/Header.tsx';
import { useTitleParts } from '../shell/pageTitle.ts';
import { ViewBar } from '../shell/ViewBar.tsx';
import { Forgotten } from './ExportButtons.tsx';
import { QueueButtons } from './QueueButtons.tsx';
import { Results } from './Results.tsx';
import { resumeStored } from './experimentRunner.ts';
import { RunGrid } from './RunGrid.tsx';
import { loadShipped } from './shipped.ts';
import { Setup } from './Setup.tsx';
import { useExperiments } from './experimentStore.ts';

/** The screen that queues experiments and prints their tables. */
export function Experiments() {
  const plan = useExperiments((s) => s.plan);
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shipped[plan.experiment]);
  const table = useMemo(() => tableOf(plan, results, shipped), [plan, results, shipped]);
  const { label, question, doc } = EXPERIMENTS[plan.experiment];
  useAddress();
  useTitle();
  useEffect(resumeStored, []);
  useEffect(() => void loadShipped(plan.experiment), [plan.experiment]);
  return (
    <>
      <header className="header">
        <Brand />
        <HeaderEnd />
      </header>
      <ViewBar />
      <main className="experiments">
        <Setup />
        <section className="experiment" aria-labelledby="experiment-title">
          <h2 id="experiment-title">{label}</h2>
          <p className="large">{question}</p>
          <p className="faint">{doc}</p>
          <QueueButtons />
          <Notices />
          <Forgotten />
          <Results table={table} />
          <RunGrid runs={plannedRuns(plan)} table={table} />
        </section>
      </main>
    </>
  );
}

function Notices() {
  const corrections = useExperiments((s) => s.corrections);
  const unsaved = useExperiments((s) => s.unsaved);
  const note = useExperiments((s) => s.note);
  return (
    <>
      {[...corrections, ...(unsaved === null ? [] : [unsaved])].map((text) => (
        <p key={text} className="note" role="alert">
          {text}
        </p>
      ))}
      <p className="faint" role="status">
        {note}
      </p>
    </>
  );
}

/** The address follows the form, and the form an address that is typed or gone back to. */
function useAddress(): void {
  useEffect(() => {
    const write = () => {
      if (routeOf(location.hash) !== 'experiments') return;
      const hash = planHash(useExperiments.getState().plan);
      if (hash !== location.hash) history.replaceState(history.state, '', hash);
    };
    const read = () => {
      if (routeOf(location.hash) === 'experiments' && location.hash.includes('?'))
        useExperiments.setState(readPlan(location.hash));
    };
    read();
    write();
    const stop = useExperiments.subscribe((state, before) => {
      if (state.plan !== before.plan) write();
    });
    addEventListener('popstate', read);
    return () => {
      stop();
      removeEventListener('popstate', read);
    };
  }, []);
}

function useTitle(): void {
  const running = useExperiments((s) => s.mode === 'running');
  const left = useExperiments((s) => s.waiting.length);
  useTitleParts({ progress: running ? `▶ ${left} runs left` : '' });
}

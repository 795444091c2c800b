import { create } from 'zustand';
import { NO_LISTENER, RunClient } from '../run/runClient.ts';
import { shownText } from '../run/metricText.ts';
import { SILENT_WORDS } from '../run/workerWatch.ts';
import type { Run } from '../../runs/run.ts';
import type { KeptMetric } from '../runs/keptRun.ts';
import { deleteRun, nextId, putRun, toggleShown, useRuns } from '../runs/runStore.ts';
import { type Arm, runArm, type Trained } from './arm.ts';
import { pairsOf, STORY, comparisonVerdict } from './comparisonVerdict.ts';

/** Runs that are trained one after the other to be compared. */
export interface Comparison {
  readonly title: string;
  readonly arms: readonly Arm[];
  readonly fork: Run['fork']; // undefined: the arms train from update 0
  readonly metric?: KeptMetric; // the curve that the comparison is about; success by default
  readonly seeds?: number; // the most seeds it trains without being asked; fewer if they would take longer than `QUICK_S` in all
}

interface ComparisonState {
  readonly comparison: Comparison | null;
  readonly arm: number; // under way
  readonly update: number; // of it
  readonly silent: boolean; // its worker has not answered for ten seconds
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  readonly results: readonly Trained[];
  readonly runs: readonly number[]; // their ids in the list
  readonly verdict: string;
  readonly problem: string;
}

const IDLE: ComparisonState = {
  ...{
    comparison: null,
    arm: 0,
    update: 0,
    silent: false,
    state: 'idle',
    results: [],
    runs: [],
    verdict: '',
    problem: '',
  },
};

/** The comparison under way, or the last one. */
export const useComparison = create<ComparisonState>()(() => IDLE);

let client: RunClient | null = null;

/** What a comparison may take to go on to more seeds unasked. */
const QUICK_S = 60;

/** Seeds that one more press adds: with the first there are as many as the sign test needs at least. */
export const MORE_SEEDS = 5;

/** Trains the arms of a comparison one after the other, in a worker of their own: the run of the lab stays as it is. */
export async function runComparison(comparison: Comparison): Promise<void> {
  cancelComparison();
  useComparison.setState({ ...IDLE, comparison, state: 'running' });
  // what is compared now is seen alone
  for (const id of useRuns.getState().slots) if (id !== null) toggleShown(id);
  useRuns.setState({ metric: comparison.metric ?? STORY });
  const began = performance.now();
  await trainFrom(0);
  const more = moreSeedsToTrain(comparison, (performance.now() - began) / 1000);
  if (more > 0 && useComparison.getState().comparison === comparison) await moreSeeds(more);
}

/** Trains the same arms once more for each of the next seeds; the verdict is then over all of them. */
export async function moreSeeds(count = MORE_SEEDS): Promise<void> {
  const { comparison, state, results } = useComparison.getState();
  if (!comparison || state !== 'done') return;
  const last = Math.max(...comparison.arms.map(({ config }) => config.seed));
  const [first] = comparison.arms;
  const own = comparison.arms.filter(({ config }) => config.seed === first?.config.seed);
  const arms = Array.from({ length: count }, (_, k) => own.map((arm) => withSeed(arm, last + 1 + k))).flat();
  useComparison.setState({
    comparison: { ...comparison, arms: [...comparison.arms, ...arms] },
    state: 'running',
    verdict: '',
    problem: '',
  });
  await trainFrom(results.length);
}

/** How many more seeds a comparison trains without being asked, given the seconds that its first ones took. */
export function moreSeedsToTrain({ arms, seeds = 1 }: Comparison, seconds: number): number {
  const own = new Set(arms.map(({ config }) => config.seed)).size;
  const quick = Math.floor((QUICK_S * own) / seconds);
  return Math.max(0, Math.min(seeds, quick) - own);
}

/** An arm with other tasks and other draws; a fork keeps the weights it goes on from. */
export function withSeed(arm: Arm, seed: number): Arm {
  const { from, config } = arm;
  return {
    ...arm,
    config: { ...config, seed },
    from: from && { ...from, config: { ...from.config, seed }, begun: { ...from.begun, seed } },
  };
}

/** Trains the arms from number `start` on. */
async function trainFrom(start: number): Promise<void> {
  const { comparison } = useComparison.getState();
  if (!comparison) return;
  const own = new RunClient(NO_LISTENER);
  client = own;
  try {
    for (const [at, arm] of comparison.arms.entries()) {
      if (at < start) continue;
      useComparison.setState({ arm: at, silent: false, update: arm.from?.progress.update ?? 0 });
      const tell = (news: Partial<ComparisonState>) => {
        if (client === own) useComparison.setState(news);
      };
      const result = await runArm(own, arm, {
        onUpdate: (update, run) => {
          tell({ update });
          if (client === own) useRuns.setState({ growing: run });
        },
        onSilence: (silent) => tell({ silent }),
      });
      if (client !== own) return; // cancelled
      useRuns.setState({ growing: null });
      const id = list(comparison, result);
      useComparison.setState((s) => ({ results: [...s.results, result], runs: [...s.runs, id] }));
    }
    useComparison.setState((s) => ({ state: 'done', verdict: comparisonVerdict(s.results, comparison.metric) }));
  } catch (error) {
    if (client !== own) return;
    useComparison.setState({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
  }
  end('The comparison is done.');
}

function end(reason: string): void {
  useRuns.setState({ growing: null });
  client?.terminate(reason);
  client = null;
}

/** Ends the comparison under way; runs that are finished stay, and pairs of them keep their verdict. */
export function cancelComparison(): void {
  end('The comparison was cancelled.');
  const { state, comparison, results } = useComparison.getState();
  if (state !== 'running') return;
  const whole = pairsOf(results).flat();
  if (!comparison || whole.length === 0) useComparison.setState(IDLE);
  else {
    const arms = comparison.arms.slice(0, whole.length);
    useComparison.setState({
      state: 'done',
      comparison: { ...comparison, arms },
      results: whole,
      verdict: comparisonVerdict(whole, comparison.metric),
    });
  }
}

/** Takes the runs of the last comparison out of the list. */
export function undoComparison(): void {
  for (const id of useComparison.getState().runs) deleteRun(id);
  useComparison.setState(IDLE);
}

/** Puts an arm among the runs and on the chart; its id. */
function list({ fork, title, arms }: Comparison, { label, run }: Trained): number {
  const { seed } = run.config;
  const first = seed === arms[0]?.config.seed;
  const own = `${label}${first ? '' : `, seed ${seed}`}`;
  const id = putRun({ ...run, id: nextId(), name: `${title}: ${own}`, arm: own, ...(fork && { fork }) });
  if (first) toggleShown(id); // the chart has room for a few
  return id;
}

/** How far a comparison is, in words: the seed under way, and how many there are. */
export function progressWords({ comparison, arm, update, silent, results }: ComparisonState): string {
  const arms = comparison?.arms ?? [];
  const seeds = [...new Set(arms.map(({ config }) => config.seed))];
  const seed = arms[arm]?.config.seed;
  const own = arms.flatMap((each, at) => (each.config.seed === seed ? [{ ...each, at }] : []));
  const words = own.map(({ label, config, at }) => {
    const done = results[at];
    if (done)
      return `${label}: ${shownText('rollout/success', done.run.series.get('rollout/success')?.smooth)} at update ${done.run.update}`;
    return at === arm ? `${label}: update ${update}/${config.updates}` : `${label}: waiting`;
  });
  const which = seeds.length > 1 ? `Seed ${seeds.indexOf(seed ?? 0) + 1} of ${seeds.length} · ` : '';
  const stuck = silent ? `. Its worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '';
  return which + words.join(' · ') + stuck;
}

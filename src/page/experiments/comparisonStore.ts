import { create } from 'zustand';
import { ArmQueue } from '../../runs/armQueue.ts';
import { type Arm, type ArmProgress, ArmWorker, type TrainedArm } from '../training/armWorker.ts';
import { shownText } from '../words/metricText.ts';
import { SILENT_WORDS } from '../browser/workerClient.ts';
import type { Run } from '../../runs/run.ts';
import type { KeptMetric } from '../runs/keptRun.ts';
import { deleteRun, nextId, putRun, toggleShown, useRuns } from '../runs/runStore.ts';
import { pairsOf, DEFAULT_METRIC, comparisonVerdict } from './comparisonVerdict.ts';

/** A comparison of runs (arms) that are trained one after the other. */
export interface Comparison {
  readonly title: string;
  readonly arms: readonly Arm[];
  readonly fork: Run['fork']; // undefined: the arms train from update 0
  readonly metric?: KeptMetric; // the curve that the comparison is about; default: training success
  /** Largest number of seeds that are trained automatically; fewer if all together would take more than `MAX_AUTOMATIC_SECONDS`. */
  readonly maxSeeds?: number;
}

interface ComparisonState {
  readonly comparison: Comparison | null;
  readonly update: number; // newest update of the current arm
  readonly silent: boolean; // whether the worker hasn't answered for ten seconds
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  readonly results: readonly TrainedArm[]; // of the finished arms, in order; the next arm is in training
  readonly runIds: readonly number[]; // ids of these runs in the list
  readonly verdict: string;
  readonly problem: string;
}

const IDLE: ComparisonState = {
  ...{
    comparison: null,
    update: 0,
    silent: false,
    state: 'idle',
    results: [],
    runIds: [],
    verdict: '',
    problem: '',
  },
};

/** The current comparison, or the last one. */
export const useComparison = create<ComparisonState>()(() => IDLE);

let queue: ArmQueue<Arm, ArmProgress, TrainedArm> | null = null; // of the newest comparison

/** A comparison trains more seeds automatically only if all seeds together take less than this number of seconds. */
const MAX_AUTOMATIC_SECONDS = 60;

/** Together with the first seed, these are the smallest number that the sign test needs. */
export const SEEDS_PER_PRESS = 5;

/** Trains the arms of a comparison one after the other, in a separate worker. The run of the lab isn't affected. */
export async function runComparison(comparison: Comparison): Promise<void> {
  cancelComparison();
  useComparison.setState({ ...IDLE, comparison, state: 'running' });
  // the chart shows only the runs of this comparison
  for (const id of useRuns.getState().slots) if (id !== null) toggleShown(id);
  useRuns.setState({ metric: comparison.metric ?? DEFAULT_METRIC });
  const began = performance.now();
  await train(comparison.arms);
  const seedCount = automaticSeedCount(comparison, (performance.now() - began) / 1000);
  if (seedCount > 0 && useComparison.getState().comparison === comparison) await trainMoreSeeds(seedCount);
}

/** Trains the same arms with each of the next seeds. The verdict then covers all seeds. */
export async function trainMoreSeeds(count = SEEDS_PER_PRESS): Promise<void> {
  const { comparison, state } = useComparison.getState();
  if (!comparison || state !== 'done') return;
  const lastSeed = Math.max(...comparison.arms.map(({ config }) => config.seed));
  const [first] = comparison.arms;
  const armsOfOneSeed = comparison.arms.filter(({ config }) => config.seed === first?.config.seed);
  const arms = Array.from({ length: count }, (_, k) =>
    armsOfOneSeed.map((arm) => withSeed(arm, lastSeed + 1 + k)),
  ).flat();
  useComparison.setState({
    comparison: { ...comparison, arms: [...comparison.arms, ...arms] },
    state: 'running',
    verdict: '',
    problem: '',
  });
  await train(arms);
}

/** `seconds`: the time that the seeds so far took. */
export function automaticSeedCount({ arms, maxSeeds = 1 }: Comparison, seconds: number): number {
  const trainedSeeds = new Set(arms.map(({ config }) => config.seed)).size;
  const seedsInTime = Math.floor((MAX_AUTOMATIC_SECONDS * trainedSeeds) / seconds);
  return Math.max(0, Math.min(maxSeeds, seedsInTime) - trainedSeeds);
}

/** The arm with another seed, and so with other tasks and random draws. A fork keeps the weights that it continues from. */
export function withSeed(arm: Arm, seed: number): Arm {
  const { from, config } = arm;
  return {
    ...arm,
    config: { ...config, seed },
    ...(from && { from: { ...from, config: { ...from.config, seed }, begun: { ...from.begun, seed } } }),
  };
}

function train(arms: readonly Arm[]): Promise<void> {
  return new Promise((resolve) => {
    queue = new ArmQueue<Arm, ArmProgress, TrainedArm>(() => new ArmWorker(), {
      onBegin: ({ from }) => useComparison.setState({ silent: false, update: from?.progress.update ?? 0 }),
      onProgress: (_, { run, silent }) => {
        if (silent !== useComparison.getState().silent) useComparison.setState({ silent });
        if (run.update <= useComparison.getState().update) return;
        useComparison.setState({ update: run.update });
        useRuns.setState({ comparisonRun: run });
      },
      onDone: (_, result) => {
        useRuns.setState({ comparisonRun: null });
        const id = addToRunList(result);
        useComparison.setState((s) => ({ results: [...s.results, result], runIds: [...s.runIds, id] }));
      },
      onFailure: (_, reason) => {
        useComparison.setState({ state: 'failed', problem: reason instanceof Error ? reason.message : String(reason) });
        queue?.cancel('An arm of the comparison failed.');
      },
      onEnd: () => {
        useRuns.setState({ comparisonRun: null });
        useComparison.setState(({ state, results, comparison }) =>
          state === 'running' ? { state: 'done', verdict: comparisonVerdict(results, comparison?.metric) } : {},
        );
        resolve();
      },
    });
    queue.add(arms);
  });
}

/** Ends the current comparison. Finished runs stay, and finished pairs keep their verdict. */
export function cancelComparison(): void {
  const { state, comparison, results } = useComparison.getState();
  const pairedResults = pairsOf(results).flat();
  if (state === 'running' && comparison && pairedResults.length > 0) {
    const arms = comparison.arms.slice(0, pairedResults.length);
    useComparison.setState({
      state: 'done',
      comparison: { ...comparison, arms },
      results: pairedResults,
      verdict: comparisonVerdict(pairedResults, comparison.metric),
    });
  } else if (state === 'running') useComparison.setState(IDLE);
  queue?.cancel('The comparison was cancelled.');
}

export function undoComparison(): void {
  for (const id of useComparison.getState().runIds) deleteRun(id);
  useComparison.setState(IDLE);
}

function addToRunList({ label, run }: TrainedArm): number {
  const { fork, title = '', arms = [] } = useComparison.getState().comparison ?? {};
  const { seed } = run.config;
  const isFirstSeed = seed === arms[0]?.config.seed;
  const armName = `${label}${isFirstSeed ? '' : `, seed ${seed}`}`;
  const id = putRun({ ...run, id: nextId(), name: `${title}: ${armName}`, arm: armName, ...(fork && { fork }) });
  if (isFirstSeed) toggleShown(id); // only the first seed, because the chart can show only a few runs
  return id;
}

export function progressWords({ comparison, update, silent, results }: ComparisonState): string {
  const arms = comparison?.arms ?? [];
  const armIndex = results.length; // index of the current arm
  const seeds = [...new Set(arms.map(({ config }) => config.seed))];
  const seed = arms[armIndex]?.config.seed;
  const armsOfSeed = arms.flatMap((each, index) => (each.config.seed === seed ? [{ ...each, at: index }] : []));
  const armTexts = armsOfSeed.map(({ label, config, at }) => {
    const result = results[at];
    if (result)
      return `${label}: ${shownText('rollout/success', result.run.series.get('rollout/success')?.lastSmoothed)} at update ${result.run.update}`;
    return at === armIndex ? `${label}: update ${update}/${config.updates}` : `${label}: waiting`;
  });
  const seedText = seeds.length > 1 ? `Seed ${seeds.indexOf(seed ?? 0) + 1} of ${seeds.length} · ` : '';
  const silenceText = silent ? `. Its worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '';
  return seedText + armTexts.join(' · ') + silenceText;
}

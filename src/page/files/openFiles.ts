import { create } from 'zustand';
import { visible } from '../../base/visible.ts';
import { ProblemError } from '../../base/problem.ts';
import { isBesideLogs, joinedLogs, NO_METRICS, runOfLog } from '../../metricLogs/logFiles.ts';
import { inReadingOrder } from '../../rollouts/readingOrder.ts';
import type { ReadMetricFile } from '../../metricLogs/readMetricFile.ts';
import { seriesOf } from '../../runs/run.ts';
import { receivedRun, type RunFile } from '../../runs/sentRun.ts';
import type { FileWithPath } from '../browser/filesWithPaths.ts';
import { ReaderClient } from './readerClient.ts';
import { listedMetrics } from '../runs/keptRun.ts';
import { MAX_RUNS, nextId, putRun, toggleShown, useRuns } from '../runs/runStore.ts';

interface OpenedFiles {
  readonly words: string;
  readonly problems: readonly string[];
}

export const useOpenedFiles = create<OpenedFiles>()(() => ({ words: '', problems: [] }));

const MAX_FILE_BYTES = 256 * 2 ** 20;
const MAX_SHOWN_PROBLEMS = 6;
/** Logs of metrics; the second only if they are chosen themselves, because folders have such files for other purposes. */
const RUN_FILE = /tfevents|\.(?:jsonl?|log)(?:[.-]\d{1,8})?(?:\.(?:zst|gz))?$/i;
const CHOSEN_RUN_FILE = /^[^/]+\.(?:csv|txt|out)(?:\.gz)?$/i;

/**
 * Opens logs of this project and of others, saved folders, and folders of sweeps and experiments as runs in the list, until the list is full, and
 * shows as many of them as the chart can take. Such runs can be viewed and compared but not continued. Files that
 * cannot be read are reported. Runs that are in the list already stay. `followed` has the runs of logs that a job still
 * writes and that were opened before; these are replaced, and new ones are noted there. Such a log may have no metrics yet.
 */
export async function openFiles(files: readonly FileWithPath[], followed?: Map<string, number>): Promise<void> {
  const isRunFile = ({ path }: FileWithPath) =>
    (RUN_FILE.test(path) || CHOSEN_RUN_FILE.test(path)) && (files.length === 1 || !isBesideLogs(path));
  const runFiles = followed ? files : files.filter(isRunFile);
  const ids = followed ?? new Map<string, number>();
  const problems: string[] = [];
  if (runFiles.length === 0) {
    const [onlyFile] = files.length === 1 ? files : [];
    const chosenText = onlyFile ? visible(onlyFile.path) : `${files.length} files`;
    problems.push(
      `No run found in ${chosenText}. Choose a log (JSON, JSON Lines, console, CSV, TensorBoard), a saved folder, or the folder of a sweep’s or an experiment’s runs.`,
    );
  }
  const freePlaces = Math.max(0, MAX_RUNS - useRuns.getState().runs.length);
  const readers = new Set<ReaderClient>(); // holds at most one, started when needed
  const reader = () => {
    const [running] = readers;
    const client = running ?? new ReaderClient({ onEvent: () => undefined, onLoss: () => readers.clear() });
    readers.add(client);
    return client;
  };
  let count = 0;
  let leftOut = 0;
  for (const { path, file } of inReadingOrder(await joinedLogs(runFiles))) {
    const known = ids.get(runOfLog(path));
    const before = useRuns.getState().runs.find(({ id }) => id === known);
    if (known !== undefined && !before) continue; // the person has deleted it
    if (known === undefined && count >= freePlaces) {
      leftOut++;
      continue;
    }
    try {
      // drop the arm: runs with different seeds have the same arm, and the chart would give them the same label
      const { run: opened, diagnosis } = await readRun({ path, file }, files, reader);
      const { arm: _, ...run } = opened;
      const started = before?.started ?? run.started; // it is still that run
      const id = putRun({ ...run, started, id: known ?? nextId(), diagnosis });
      ids.set(runOfLog(path), id);
      if (known !== undefined) continue;
      toggleShown(id);
      if (count++ === 0 && !seriesOf(run, useRuns.getState().metric)) {
        const metric = diagnosis.findings[0]?.metric ?? listedMetrics(run)[0] ?? [...(run.foreign?.keys() ?? [])][0];
        if (metric) useRuns.setState({ metric });
      }
    } catch (error) {
      const sentence = sentenceOf(error);
      if (!followed || !sentence.startsWith(NO_METRICS)) problems.push(`${visible(path)}: ${sentence}`);
    }
  }
  if (leftOut > 0)
    problems.push(`${leftOut} more didn’t fit: the list holds ${MAX_RUNS} runs. Delete some and open them again.`);
  for (const client of readers) client.terminate();
  if (followed && count === 0 && problems.length === 0) return;
  const more = problems.length - MAX_SHOWN_PROBLEMS;
  useOpenedFiles.setState({
    words: `Opened ${count} ${count === 1 ? 'run' : 'runs'}.`,
    problems: more > 0 ? [...problems.slice(0, MAX_SHOWN_PROBLEMS), `and ${more} more.`] : problems,
  });
}

const MAX_PAGE_BYTES = 2 ** 16; // read and diagnosed in the page in 30 ms; larger files go to a worker

/** Reads the run of a file. A worker reads large files, because that takes seconds. Rejects if the file is not valid. */
async function readRun(
  { path, file }: FileWithPath,
  files: readonly FileWithPath[],
  reader: () => ReaderClient,
): Promise<ReadMetricFile> {
  if (file.size > MAX_FILE_BYTES)
    throw new ProblemError(
      `the file has ${(file.size / 2 ** 20).toFixed(0)} MiB; at most 256 can be opened. Keep fewer updates.`,
    );
  const manifestPath = path.replace(/[^/]*$/, 'playground.json');
  const manifest = files.find((other) => other.path === manifestPath && other.path !== path)?.file ?? null;
  const runFile: RunFile = { path, file, written: new Date(file.lastModified).toISOString(), manifest };
  if (file.size + (manifest?.size ?? 0) <= MAX_PAGE_BYTES)
    return (await import('../../metricLogs/readMetricFile.ts')).readMetricFile(runFile);
  useOpenedFiles.setState({ words: `Reading ${visible(path)} …`, problems: [] });
  const result = await reader().readRun(runFile);
  if ('problem' in result) throw new Error(result.problem);
  return { run: receivedRun(result.run), diagnosis: result.diagnosis };
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

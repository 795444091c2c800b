import { create } from 'zustand';
import { visible } from '../../base/visible.ts';
import { readRunFile } from '../../experiments/runFile.ts';
import { ProblemError } from '../../base/problem.ts';
import type { Run } from '../../runs/run.ts';
import { receivedRun, type RunFile } from '../../runs/sentRun.ts';
import type { PlacedFile } from '../parts/placedFiles.ts';
import { ReaderClient } from '../rollouts/readerClient.ts';
import { MOST_RUNS, nextId, putRun, toggleShown, useRuns } from './runStore.ts';

/** What came of the files that were opened last. */
export const useOpened = create<{ readonly words: string; readonly problems: readonly string[] }>()(() => ({
  words: '',
  problems: [],
}));

const MOST_BYTES = 256 * 2 ** 20;
const MOST_TOLD = 6;
/** A sweep's own tables, and what of a checkpoint is not of its curves, lie beside what is opened. */
const BESIDE = /(^|\/)(table\.json|playground\.json|[^/]*config\.json|tokenizer\.json|\.[^/]*)$/;

/**
 * Opens logs, saved folders, and the folders of sweeps and experiments as runs of the list, as far as there is room, and draws the first of
 * them. They can be looked at and compared, not gone on with. What cannot be read is told by file; the runs that were there stay.
 */
export async function openFiles(files: readonly PlacedFile[]): Promise<void> {
  const wanted = files.filter(({ path }) => /\.jsonl?$/i.test(path) && (files.length === 1 || !BESIDE.test(path)));
  const problems: string[] = [];
  if (wanted.length === 0) {
    const [only] = files.length === 1 ? files : [];
    const got = only ? visible(only.path) : `${files.length} files`;
    problems.push(
      `No run found in ${got}. Choose a log (.jsonl), a saved folder, or the folder of a sweep’s or an experiment’s runs.`,
    );
  }
  const room = MOST_RUNS - useRuns.getState().runs.length;
  const begun = new Set<ReaderClient>(); // one at most
  const reader = () => {
    const [running] = begun;
    const client = running ?? new ReaderClient({ onEvent: () => undefined, onLoss: () => begun.clear() });
    begun.add(client);
    return client;
  };
  let opened = 0;
  let left = 0;
  for (const { path, file } of wanted.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (opened >= room) {
      left++;
      continue;
    }
    try {
      // without its arm: several seeds have the same, and the chart would label them alike
      const { arm: _, ...run } = await runIn({ path, file }, files, reader);
      const id = putRun({ ...run, id: nextId() });
      toggleShown(id);
      opened++;
    } catch (error) {
      problems.push(`${visible(path)}: ${sentenceOf(error)}`);
    }
  }
  if (left > 0)
    problems.push(`${left} more didn’t fit: the list holds ${MOST_RUNS} runs. Delete some and open them again.`);
  for (const client of begun) client.terminate();
  const more = problems.length - MOST_TOLD;
  useOpened.setState({
    words: `Opened ${opened} ${opened === 1 ? 'run' : 'runs'}.`,
    problems: more > 0 ? [...problems.slice(0, MOST_TOLD), `and ${more} more.`] : problems,
  });
}

const AT_ONCE = 2 ** 20; // bytes that are read in a few milliseconds

/** The run of a file; a large one is read by a worker, for it takes seconds. */
async function runIn(
  { path, file }: PlacedFile,
  files: readonly PlacedFile[],
  reader: () => ReaderClient,
): Promise<Run> {
  if (file.size > MOST_BYTES)
    throw new ProblemError(
      `the file has ${(file.size / 2 ** 20).toFixed(0)} MiB; at most 256 can be opened. Keep fewer updates.`,
    );
  const beside = path.replace(/[^/]*$/, 'playground.json');
  const manifest = files.find((other) => other.path === beside && other.path !== path)?.file ?? null;
  const runFile: RunFile = { path, file, written: new Date(file.lastModified).toISOString(), manifest };
  if (file.size + (manifest?.size ?? 0) <= AT_ONCE) return readRunFile(runFile);
  useOpened.setState({ words: `Reading ${visible(path)} …`, problems: [] });
  const read = await reader().readRun(runFile);
  if ('problem' in read) throw new Error(read.problem);
  return receivedRun(read.run);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

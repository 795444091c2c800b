import { create } from 'zustand';
import { visible } from '../../base/visible.ts';
import { ConfigError, said } from '../../config/problem.ts';
import { parseResult, runOfResult } from '../../experiments/result.ts';
import { LogError, readLog } from '../../runs/log.ts';
import type { Run } from '../../runs/run.ts';
import type { PlacedFile } from '../parts/placedFiles.ts';
import { MOST_RUNS, nextId, putRun, toggleShown, useRuns } from './store.ts';

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
 * Opens logs of `npm run train`, saved folders and results of sweeps as runs of the list, as far as there is room, and draws the first of
 * them. They can be looked at and compared, not gone on with. What cannot be read is told by file; the runs that were there stay.
 */
export async function openFiles(files: readonly PlacedFile[]): Promise<void> {
  const wanted = files.filter(({ path }) => /\.jsonl?$/i.test(path) && (files.length === 1 || !BESIDE.test(path)));
  const problems: string[] = [];
  if (wanted.length === 0) {
    const [only] = files.length === 1 ? files : [];
    const got = only ? visible(only.path) : `${files.length} files`;
    problems.push(`Got ${got}; want a log (.jsonl), a saved folder or a sweep’s folder of results.`);
  }
  const room = MOST_RUNS - useRuns.getState().runs.length;
  let opened = 0;
  let left = 0;
  for (const { path, file } of wanted.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (opened >= room) {
      left++;
      continue;
    }
    try {
      const id = putRun({ ...(await runIn(path, file, files)), id: nextId() });
      toggleShown(id);
      opened++;
    } catch (error) {
      problems.push(`${visible(path)}: ${sentenceOf(error)}`);
    }
  }
  if (left > 0)
    problems.push(`${left} more found no room: the list holds ${MOST_RUNS} runs. Delete some and open them again.`);
  const more = problems.length - MOST_TOLD;
  useOpened.setState({
    words: `Opened ${opened} ${opened === 1 ? 'run' : 'runs'}.`,
    problems: more > 0 ? [...problems.slice(0, MOST_TOLD), `and ${more} more.`] : problems,
  });
}

async function runIn(path: string, file: File, files: readonly PlacedFile[]): Promise<Run> {
  if (file.size > MOST_BYTES)
    throw new LogError(`got ${(file.size / 2 ** 20).toFixed(0)} MiB; want at most 256. Thin it out.`);
  const text = await file.text();
  const written = new Date(file.lastModified).toISOString();
  if (/\.jsonl$/i.test(path)) {
    const manifest = files.find((other) => other.path === path.replace(/[^/]*$/, 'playground.json'));
    const run: unknown = manifest && (JSON.parse(await manifest.file.text()) as { run?: unknown } | null)?.run;
    return readLog(text, { name: visible(path), written, run });
  }
  const result = parseResult(JSON.parse(text));
  if (result) return runOfResult(result, written);
  throw new LogError('got JSON that is no result of a sweep or an experiment; want a file of its folder runs.');
}

function sentenceOf(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.map(said).join(' ');
  if (error instanceof SyntaxError) return 'got text that is no JSON; want the file as it was written.';
  return error instanceof Error ? error.message : String(error);
}

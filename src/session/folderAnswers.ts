import { readCheckpointFiles } from '../checkpoints/read.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { filesOfZip, zipOf } from '../formats/zip.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import { foreignRun } from './foreignRun.ts';
import type { Host } from './host.ts';

type ImportTask = Extract<FolderTask, { kind: 'import' }>;
/** The tasks that export or import a run and don't need a language model's checkpoint. */
type RunFileTask = Exclude<FolderTask, { kind: 'merge' | 'mark' | 'weigh' }>;

/** If a file is faulty, the answer is `refused`, with one line for each reason, and nothing has changed. */
export async function answerFolder(
  task: RunFileTask,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment' | 'quickjsWasm'>,
): Promise<FolderAnswer> {
  try {
    if (task.kind === 'export') return { kind: 'exported', zip: zipOf(checkpointFiles(task.run)) };
    // imported here, because it contains the exported Python code and the rules as a script
    if (task.kind === 'handover') return await (await import('./handOverRun.ts')).handoverAnswer(task, host);
    return await importAnswer(task, host);
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

const trainedParameters = ({ networks }: Checkpoint) =>
  Array.from(networks.policy.weights.values()).reduce((sum, { length }) => sum + length, 0);

async function importAnswer(
  task: ImportTask,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<FolderAnswer> {
  const files = task.content instanceof Uint8Array ? filesOfZip(task.name, task.content) : task.content;
  const read = readCheckpointFiles(files);
  const answerWith = (run: PackedRun) =>
    ({ kind: 'imported', run, parameters: trainedParameters(run.checkpoint) }) as const;
  if (read.kind === 'ours') return { ...answerWith(read.run), foreign: null };
  const { architecture: kind, widened } = read.model;
  return { ...answerWith(await foreignRun(read.model, task, host)), foreign: { kind, widened } };
}

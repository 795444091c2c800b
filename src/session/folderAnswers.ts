import { readCheckpointFiles } from '../checkpoints/read.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { filesOfZip, zipOf } from '../formats/zip.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import { foreignRun } from './foreignRun.ts';
import type { Host } from './host.ts';

type Importing = Extract<FolderTask, { kind: 'import' }>;
/** Those that need no checkpoint from elsewhere. */
type OfRuns = Exclude<FolderTask, { kind: 'merge' | 'mark' | 'weigh' }>;

/** Does what a FolderTask asks. What is wrong with a file is `refused`, a line a reason; nothing is changed by it. */
export async function answerFolder(
  task: OfRuns,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<FolderAnswer> {
  try {
    if (task.kind === 'export') return { kind: 'exported', zip: zipOf(checkpointFiles(task.run)) };
    // brings the page's Python and the documents' texts with it
    if (task.kind === 'handover') return await (await import('./handOverRun.ts')).handed(task, host);
    return await imported(task, host);
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

/** How many numbers its policy learns. */
const learned = ({ networks }: Checkpoint) =>
  Array.from(networks.policy.weights.values()).reduce((sum, { length }) => sum + length, 0);

async function imported(task: Importing, host: Pick<Host, 'shippedFile' | 'ownEnvironment'>): Promise<FolderAnswer> {
  const files = task.content instanceof Uint8Array ? filesOfZip(task.name, task.content) : task.content;
  const read = readCheckpointFiles(files);
  const answered = (run: PackedRun) => ({ kind: 'imported', run, parameters: learned(run.checkpoint) }) as const;
  if (read.kind === 'ours') return { ...answered(read.run), foreign: null };
  const { architecture: kind, widened } = read.model;
  return { ...answered(await foreignRun(read.model, task, host)), foreign: { kind, widened } };
}

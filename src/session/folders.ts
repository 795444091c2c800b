import { foreignCheckpoint } from '../checkpoints/foreign.ts';
import { modelOf } from '../checkpoints/model.ts';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { createEnv } from '../envs/index.ts';
import { filesOfZip, zipOf } from '../formats/zip.ts';
import { parameterCount } from '../model/architecture.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { bareRun } from '../runs/run.ts';
import type { FolderAnswer, FolderTask } from '../wire/folders.ts';
import type { Host } from './host.ts';
import { factsFor } from './worlds.ts';

type Importing = Extract<FolderTask, { kind: 'import' }>;

/** Does what a FolderTask asks. What is wrong with a file is `refused`, a line a reason; nothing is changed by it. */
export async function answerFolder(task: FolderTask, host: Pick<Host, 'shippedFile'>): Promise<FolderAnswer> {
  try {
    if (task.kind === 'export') return { kind: 'exported', zip: zipOf(checkpointFiles(task.run)) };
    // brings the page's Python and the documents' texts with it
    if (task.kind === 'handover') return await (await import('./handover.ts')).handed(task, host);
    return await imported(task, host);
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

async function imported(task: Importing, { shippedFile }: Pick<Host, 'shippedFile'>): Promise<FolderAnswer> {
  const files = task.content instanceof Uint8Array ? filesOfZip(task.name, task.content) : task.content;
  const read = readCheckpointFiles(files);
  const answered = (run: PackedRun) =>
    ({ kind: 'imported', run, parameters: parameterCount(modelOf(run.checkpoint)) }) as const;
  if (read.kind === 'ours') return { ...answered(read.run), foreign: null };
  const { model, widened } = read.model;
  const env = createEnv(task.config, await factsFor(task.config, task.facts, shippedFile));
  const checkpoint = foreignCheckpoint(read.model, task.config, env.vocabulary);
  const begun = bareRun({ id: 0, name: task.name, started: new Date().toISOString(), begun: checkpoint.begun });
  const run = packedRun({ ...begun, facts: task.facts, checkpoint });
  if (!run) throw new Error('answerFolder: it was just given its checkpoint.');
  return { ...answered(run), foreign: { kind: model.attention_bias ? 'Llama with biases' : 'Llama', widened } };
}

import { quickMark } from '../checkpoints/baseCheckpoint.ts';
import { blobSource } from '../formats/byteSource.ts';
import type { Host } from '../session/host.ts';
import { ownEnvironmentOpener, virtualMachine } from './ownEnvironmentOpener.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';

/**
 * Answers a FolderTask, with `refused` and the reason if it fails. The code of each type of task is loaded at its first
 * use.
 */
export async function doFolderTask(task: FolderTask, shipped: Pick<Host, 'shippedFile'>): Promise<FolderAnswer> {
  const written = 'environment' in task && task.environment ? ownEnvironmentOpener(task.environment) : {};
  const host = { ...shipped, ...written, quickjsWasm: async () => new Uint8Array(await virtualMachine()) };
  try {
    if (task.kind === 'merge') return await (await import('../speaking/mergedModel.ts')).mergedModel(task);
    if (task.kind === 'weigh') return await (await import('../session/policySize.ts')).policySize(task, host);
    if (task.kind !== 'mark') return await (await import('../session/folderAnswers.ts')).answerFolder(task, host);
    const { name, files } = task.base;
    const sources = files.map(({ path, file }) => ({ path, source: blobSource(path, file) }));
    return { kind: 'marked', mark: await quickMark(name, sources) };
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

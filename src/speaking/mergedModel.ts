import { mergedFolder } from '../checkpoints/adapter/mergedFolder.ts';
import { mergedGguf } from '../checkpoints/adapter/mergedGguf.ts';
import { BaseNeededError, checkBase, fullMark } from '../checkpoints/baseCheckpoint.ts';
import type { MergedType } from '../domain/mergedTypes.ts';
import { blobSource, type StreamedFile } from '../formats/byteSource.ts';
import { zipStream } from '../formats/zipStream.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import { mergedSource } from '../model/mergedSource.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import { checkpointFolder, openTextCheckpoint, type FileInFolder } from './textCheckpoint.ts';

type MergeTask = Extract<FolderTask, { kind: 'merge' }>;

/**
 * Merges a run's adapters into their base checkpoint, with matrices in the number format `type`. A GGUF file becomes a
 * GGUF file, and a folder becomes a zip. Weights are read only when the pieces are requested. Throws BaseNeededError if
 * `files` aren't the checkpoint that the adapters were trained for, and ProblemError if the files can't be read.
 */
export async function mergedFile(
  { base, begun, networks }: MergeTask['run']['checkpoint'],
  name: string,
  files: readonly FileInFolder[],
  type: MergedType,
): Promise<StreamedFile> {
  const mark = await fullMark(name, files);
  if (!base) throw new BaseNeededError(null, mark);
  checkBase(base, mark);
  const { opened } = await openTextCheckpoint(files);
  const merged = mergedSource(opened.weights, opened.model, adapterConfig(begun), networks.policy.weights);
  const stem = `${name.replace(/\.gguf$/i, '')}-trained-${type.toLowerCase()}`;
  if (opened.gguf) return mergedGguf(opened, merged, type, `${stem}.gguf`);
  const { names, sourceOf } = checkpointFolder(files);
  return zipStream(`${stem}.zip`, await mergedFolder(sourceOf, merged, type, names));
}

/** Without `write`, only computes its size. The pieces become blobs, which the browser can keep outside of memory. */
export async function mergedModel({ run, base, type, write }: MergeTask): Promise<FolderAnswer> {
  const placed = base.files.map(({ path, file }) => ({ path, source: blobSource(path, file) }));
  const { name, bytes, pieces } = await mergedFile(run.checkpoint, base.name, placed, type);
  if (!write) return { kind: 'merged', name, bytes, file: null };
  const parts: Blob[] = [];
  for await (const piece of pieces()) parts.push(new Blob([piece as Uint8Array<ArrayBuffer>]));
  return { kind: 'merged', name, bytes, file: new Blob(parts, { type: 'application/octet-stream' }) };
}

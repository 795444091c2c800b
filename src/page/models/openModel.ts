import { ggufFiles } from '../../base/ggufFiles.ts';
import { currentRoute } from '../address/route.ts';
import { chosenFiles, type FileWithPath } from '../browser/filesWithPaths.ts';
import { notice } from '../browser/notices.ts';
import type { PickedModel } from '../../wire/readerMessages.ts';
import { readHeaders } from './modelStore.ts';

const MAX_TOKENIZER_BYTES = 1 << 26;
const SLICE_BYTES = 1 << 20; // searching a slice blocks the page for a few milliseconds
const OVERLAP_BYTES = 64; // because a match may lie across two slices

/** True for a GGUF file and a folder with a BPE tokenizer, but not for a folder saved here: that is a run, whatever its tokenizer. */
export async function isTextModel(files: readonly FileWithPath[]): Promise<boolean> {
  const fileNamed = (name: string) => files.find(({ path }) => path.split('/').at(-1) === name);
  if (files.some(({ path }) => /\.gguf$/i.test(path))) return true;
  const tokenizer = fileNamed('tokenizer.json');
  if (fileNamed('playground.json') || !tokenizer || tokenizer.file.size > MAX_TOKENIZER_BYTES) return false;
  return contains(tokenizer.file, /"type"\s*:\s*"BPE"/);
}

/** Whether a file contains the pattern. Reads it slice by slice, so that the page stays responsive. */
async function contains(file: Blob, pattern: RegExp): Promise<boolean> {
  for (let at = 0; at < file.size; at += SLICE_BYTES) {
    if (pattern.test(await file.slice(at, at + SLICE_BYTES + OVERLAP_BYTES).text())) return true;
  }
  return false;
}

/** The checkpoint in these files. If there is a GGUF file, only it and the other parts of its model. Null without files. */
export function modelOf(files: readonly FileWithPath[]): PickedModel | null {
  const gguf = ggufFiles(files);
  const [first] = gguf.length > 0 ? gguf : files;
  if (!first) return null;
  return gguf.length > 0
    ? { name: first.path.replace(/^.*\//s, ''), files: gguf }
    : { name: first.path.replace(/\/.*/s, ''), files };
}

/** Opens dropped files: shows the checkpoint's card on the Models screen, or on the Train screen if that is open. */
export function openPlaced(files: readonly FileWithPath[]): void {
  const model = modelOf(files);
  if (!model) {
    notice('No model in these files. Choose a .gguf file, or the folder of a checkpoint.');
    return;
  }
  readHeaders(model.name, model.files);
  const route = currentRoute();
  if (route !== 'models' && route !== 'train') location.assign('#/models');
}

export function openPicked(list: FileList | null): void {
  openPlaced(chosenFiles(list));
}

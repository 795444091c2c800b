import { ggufFiles } from '../../base/ggufFiles.ts';
import { currentRoute } from '../address/route.ts';
import { chosenFiles, type PlacedFile } from '../parts/placedFiles.ts';
import { notice } from '../shell/notices.ts';
import type { PickedModel } from '../run/pickedModel.ts';
import { lookAt } from './modelStore.ts';

const MOST_TOKENIZER = 1 << 26;
const SLICE = 1 << 20; // bytes: a few milliseconds of the page's thread
const OVERLAP = 64; // bytes: what is looked for may lie on the border of two slices

/** Whether these are files of a text model that another program made: a GGUF, or a folder whose tokenizer is BPE. A folder of this project is a run, whatever its tokenizer. */
export async function isTextModel(files: readonly PlacedFile[]): Promise<boolean> {
  const named = (name: string) => files.find(({ path }) => path.split('/').at(-1) === name);
  if (files.some(({ path }) => /\.gguf$/i.test(path))) return true;
  const tokenizer = named('tokenizer.json');
  if (named('playground.json') || !tokenizer || tokenizer.file.size > MOST_TOKENIZER) return false;
  return holds(tokenizer.file, /"type"\s*:\s*"BPE"/);
}

/** Whether the pattern is found in a file, read slice by slice: the page goes on in between. */
async function holds(file: Blob, pattern: RegExp): Promise<boolean> {
  for (let at = 0; at < file.size; at += SLICE) {
    if (pattern.test(await file.slice(at, at + SLICE + OVERLAP).text())) return true;
  }
  return false;
}

/** A checkpoint by its files: the GGUF alone where there is one, with the other parts of its model; null without any file. */
export function modelOf(files: readonly PlacedFile[]): PickedModel | null {
  const gguf = ggufFiles(files);
  const [first] = gguf.length > 0 ? gguf : files;
  if (!first) return null;
  return gguf.length > 0
    ? { name: first.path.replace(/^.*\//s, ''), files: gguf }
    : { name: first.path.replace(/\/.*/s, ''), files };
}

/** Shows what a checkpoint is, on the screen of models; or stays where it can be trained. */
export function openPlaced(files: readonly PlacedFile[]): void {
  const model = modelOf(files);
  if (!model) {
    notice('No model in these files. Choose a .gguf file, or the folder of a checkpoint.');
    return;
  }
  lookAt(model.name, model.files);
  const route = currentRoute();
  if (route !== 'models' && route !== 'train') location.assign('#/models');
}

/** Opens files that were picked. */
export function openPicked(list: FileList | null): void {
  openPlaced(chosenFiles(list));
}

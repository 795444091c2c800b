import { ggufFiles } from '../../base/ggufFiles.ts';
import { chosenFiles, type PlacedFile } from '../parts/placedFiles.ts';
import { notice } from '../shell/notices.ts';
import type { GivenModel } from '../run/givenModel.ts';
import { lookAt } from './store.ts';

const MOST_TOKENIZER = 1 << 26;

/** Whether these are files of a text model that another program made: a GGUF, or a folder whose tokenizer is BPE. A folder of this project is a run, whatever its tokenizer. */
export async function isTextModel(files: readonly PlacedFile[]): Promise<boolean> {
  const named = (name: string) => files.find(({ path }) => path.split('/').at(-1) === name);
  if (files.some(({ path }) => /\.gguf$/i.test(path))) return true;
  const tokenizer = named('tokenizer.json');
  if (named('playground.json') || !tokenizer || tokenizer.file.size > MOST_TOKENIZER) return false;
  return /"type"\s*:\s*"BPE"/.test(await tokenizer.file.text());
}

/** A checkpoint by its files: the GGUF alone where there is one, with the other parts of its model; null without any file. */
export function modelOf(files: readonly PlacedFile[]): GivenModel | null {
  const gguf = ggufFiles(files);
  const [first] = gguf.length > 0 ? gguf : files;
  if (!first) return null;
  return gguf.length > 0
    ? { name: first.path.replace(/^.*\//s, ''), files: gguf }
    : { name: first.path.replace(/\/.*/s, ''), files };
}

/** Shows what a checkpoint is, on the screen of models. */
export function openPlaced(files: readonly PlacedFile[]): void {
  const given = modelOf(files);
  if (!given) {
    notice('No file was chosen: want a .gguf file, or the folder of a checkpoint.');
    return;
  }
  lookAt(given.name, given.files);
  if (!location.hash.startsWith('#/models')) location.assign('#/models');
}

/** Opens files that were picked. */
export function openPicked(list: FileList | null): void {
  openPlaced(chosenFiles(list));
}

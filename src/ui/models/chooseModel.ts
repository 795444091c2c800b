import { chosenFiles } from '../parts/placedFiles.ts';
import { modelOf } from './open.ts';
import { takeForRun } from './train.ts';

/** Asks for the file, or the folder, of the checkpoint that a run waits for. */
export function chooseModel(of: 'file' | 'folder'): void {
  const input = document.createElement('input');
  input.type = 'file';
  if (of === 'file') input.accept = '.gguf';
  else input.webkitdirectory = true;
  input.addEventListener('change', () => {
    const given = modelOf(chosenFiles(input.files));
    if (given) void takeForRun(given);
  });
  input.click();
}

import { chosenFiles } from '../browser/filesWithPaths.ts';
import { modelOf } from './openModel.ts';
import { passToRun } from './trainModel.ts';

/** Opens a dialog for the file or folder of the checkpoint that a run waits for. */
export function chooseModel(pickedKind: 'file' | 'folder'): void {
  const input = document.createElement('input');
  input.type = 'file';
  if (pickedKind === 'file') input.accept = '.gguf';
  else input.webkitdirectory = true;
  input.addEventListener('change', () => {
    const model = modelOf(chosenFiles(input.files));
    if (model) void passToRun(model);
  });
  input.click();
}

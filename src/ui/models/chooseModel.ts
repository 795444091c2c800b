import { chosenFiles } from '../parts/placedFiles.ts';
import { modelOf } from './openModel.ts';
import { takeForRun } from './trainModel.ts';

/** Opens a dialog for the file or folder of the checkpoint that a run waits for. */
export function chooseModel(of: 'file' | 'folder'): void {
  const input = document.createElement('input');
  input.type = 'file';
  if (of === 'file') input.accept = '.gguf';
  else input.webkitdirectory = true;
  input.addEventListener('change', () => {
    const model = modelOf(chosenFiles(input.files));
    if (model) void takeForRun(model);
  });
  input.click();
}

import { droppedFiles } from '../parts/placedFiles.ts';

/**
 * Takes files and folders dropped on any screen: a browser by itself would leave the page, and its run, to show them. Returns a
 * function that stops.
 */
export function bindDrop(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    const files = droppedFiles(event.dataTransfer); // now: the event lasts no longer
    void import('./dropTakers.ts').then(async ({ take }) => take(await files));
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

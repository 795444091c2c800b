import { droppedFiles } from '../browser/filesWithPaths.ts';

/**
 * Accepts files and folders dropped on any screen. Without this the browser would show the dropped file in place of the
 * page, and the run would be lost. Returns a function that removes the listeners.
 */
export function bindDrop(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    const files = droppedFiles(event.dataTransfer); // read now: after the event its files are gone
    void import('./dropHandlers.ts').then(async ({ openDropped }) => openDropped(await files));
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

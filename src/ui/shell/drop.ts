import { currentRoute } from '../address/route.ts';
import { useSelection } from './selectionStore.ts';

/**
 * Takes files dropped on any screen, as a person's own facts: a browser by itself would leave the page, and its run, to show
 * them. Then shows what was read, in the lab. Returns a function that stops.
 */
export function bindDrop(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    void take(file);
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

async function take(file: File): Promise<void> {
  const { readFacts, useFacts } = await import('../knobs/factsStore.ts');
  await readFacts(file);
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ tab: 'tune' }); // where a phone has the panel
  useFacts.setState((s) => ({ dropped: s.dropped + 1 }));
}

import { currentRoute } from '../address/route.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** Begins the tour in the lab, where all that it speaks of is; knobs and run stay as they are. */
export function beginTour(): void {
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ touring: true });
}

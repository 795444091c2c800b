import { visible } from '../../base/visible.ts';
import { STOPS } from '../rollout/kinds.ts';

/** How a rollout of a file ended, in the page's own words where it knows them. */
export function stopWords(stop: string): string {
  return Object.entries(STOPS).find(([name]) => name === stop)?.[1] ?? visible(stop, 24);
}

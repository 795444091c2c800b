import { createContext } from 'react';
import type { RolloutRecord } from '../../rollouts/rolloutRecord.ts';

/** What the page offers for opened files. Null in the output of a notebook, which has no other screen to go to. */
export const PageActions = createContext<{
  readonly tryHere: (record: RolloutRecord) => void;
  readonly close: () => void;
} | null>(null);

import type { SegmentKind } from '../../rollouts/rolloutRecord.ts';
import { KINDS } from '../rollout/kinds.ts';

/** What each kind of segment is called and marked with: the kinds of the page, and what other chat templates have besides. */
export const SEGMENT_KINDS: Readonly<Record<SegmentKind, { readonly label: string; readonly letter: string }>> = {
  ...KINDS,
  system: { label: 'system', letter: 'S' },
  action: { label: 'agent', letter: 'W' },
};

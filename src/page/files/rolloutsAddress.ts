import { hashSettings, routeOf } from '../address/hash.ts';
import { addressExcerpt } from '../address/addressText.ts';
import type { RolloutsView } from './rolloutFileStore.ts';

const LOOKS: readonly RolloutsView[] = ['rollout', 'pair', 'group', 'steps'];
const KEYS: readonly string[] = ['rollout', 'beside', 'look', 'sample'];

/** The view that an address of this screen selects. It contains no files, because a page cannot open files by itself. */
export interface RolloutsPlace {
  readonly row: number | null;
  readonly beside: number | null; // the rollout that it is compared with; null: the next one of its group
  readonly look: RolloutsView;
  readonly sample: boolean; // show the sample from the shipped recording
}

export function rolloutsHash({ row, beside, look, sample }: RolloutsPlace): string {
  const parts = [
    ...(sample ? ['sample=1'] : []),
    ...(row === null ? [] : [`rollout=${row}`]),
    ...(beside === null ? [] : [`beside=${beside}`]),
    ...(look === 'rollout' ? [] : [`look=${look}`]),
  ];
  return `#/rollouts${parts.length > 0 ? `?${parts.join('&')}` : ''}`;
}

/** Reads an address and never throws. Parts that could not be used get a correction. */
export function readRolloutsHash(hash: string): RolloutsPlace & { readonly corrections: readonly string[] } {
  const corrections: string[] = [];
  const settings = routeOf(hash) === 'rollouts' ? hashSettings(hash, corrections) : new Map<string, string>();
  for (const key of settings.keys()) {
    if (!KEYS.includes(key))
      corrections.push(`${addressExcerpt(key)}: isn’t part of this address and was ignored. Use ${KEYS.join(', ')}.`);
  }
  const readRow = (name: string): number | null => {
    const row = settings.get(name);
    if (row === undefined || /^\d{1,9}$/.test(row)) return row === undefined ? null : Number(row);
    corrections.push(`${name}: ${addressExcerpt(row)} isn’t a whole number from 0 and was ignored.`);
    return null;
  };
  const [row, beside] = [readRow('rollout'), readRow('beside')];
  const lookName = settings.get('look');
  const look = LOOKS.find((each) => each === lookName);
  if (lookName !== undefined && !look)
    corrections.push(`look: ${addressExcerpt(lookName)} isn’t one of ${LOOKS.join(', ')} and was ignored.`);
  const sample = settings.get('sample');
  if (sample !== undefined && sample !== '1')
    corrections.push(`sample: ${addressExcerpt(sample)} isn’t 1 and was ignored.`);
  return { row, beside, look: look ?? 'rollout', sample: sample === '1', corrections };
}

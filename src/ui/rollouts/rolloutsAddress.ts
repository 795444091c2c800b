import { hashSettings, routeOf } from '../address/hash.ts';
import { visible } from '../address/addressText.ts';
import type { Look } from './rolloutFileStore.ts';

const LOOKS: readonly Look[] = ['rollout', 'group', 'steps'];
const KEYS: readonly string[] = ['rollout', 'look', 'sample'];

/** What an address of this screen asks to look at. Files are not in it: a page cannot open them by itself. */
export interface RolloutsPlace {
  readonly row: number | null;
  readonly look: Look;
  readonly sample: boolean; // of the shipped run
}

/** The address of what is looked at. */
export function rolloutsHash({ row, look, sample }: RolloutsPlace): string {
  const parts = [
    ...(sample ? ['sample=1'] : []),
    ...(row === null ? [] : [`rollout=${row}`]),
    ...(look === 'rollout' ? [] : [`look=${look}`]),
  ];
  return `#/rollouts${parts.length > 0 ? `?${parts.join('&')}` : ''}`;
}

/** Reads an address without ever failing; what could not be meant is told. */
export function readRolloutsHash(hash: string): RolloutsPlace & { readonly corrections: readonly string[] } {
  const corrections: string[] = [];
  const asked = routeOf(hash) === 'rollouts' ? hashSettings(hash, corrections) : new Map<string, string>();
  for (const key of asked.keys()) {
    if (!KEYS.includes(key))
      corrections.push(`${visible(key)}: isn’t part of this address and was ignored. Use ${KEYS.join(', ')}.`);
  }
  const row = asked.get('rollout');
  const whole = row !== undefined && /^\d{1,9}$/.test(row);
  if (row !== undefined && !whole)
    corrections.push(`rollout: ${visible(row)} isn’t a whole number from 0 and was ignored.`);
  const named = asked.get('look');
  const look = LOOKS.find((each) => each === named);
  if (named !== undefined && !look)
    corrections.push(`look: ${visible(named)} isn’t one of ${LOOKS.join(', ')} and was ignored.`);
  const sample = asked.get('sample');
  if (sample !== undefined && sample !== '1') corrections.push(`sample: ${visible(sample)} isn’t 1 and was ignored.`);
  return { row: whole ? Number(row) : null, look: look ?? 'rollout', sample: sample === '1', corrections };
}

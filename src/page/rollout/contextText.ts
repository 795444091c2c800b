import type { RunConfig } from '../../config/fields.ts';

/** What a training row of an episode shows again and what it leaves out, in words. The row begins after turn `turn`. */
export function contextText({ shown, shownTurns }: Pick<RunConfig, 'shown' | 'shownTurns'>, turn: number): string {
  const first = shown === 'everything' ? 1 : Math.max(1, turn - shownTurns + 1);
  const turns = (from: number, to: number) => (from === to ? `turn ${from}` : `turns ${from}–${to}`);
  const forgotten = first > 1 ? ` Forgotten: ${turns(1, first - 1)}.` : '';
  return `Row ${turn + 1} begins. It shows the prompt and ${turns(first, turn)} again.${forgotten}`;
}

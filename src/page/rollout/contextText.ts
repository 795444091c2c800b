import type { RunConfig } from '../../config/fields.ts';

/** What a training row of an episode shows again and what it leaves out, in words. The row begins after turn `turn`. */
export function contextText({ shown, shownTurns }: Pick<RunConfig, 'shown' | 'shownTurns'>, turn: number): string {
  const begins = `Row ${turn + 1} begins. It shows the prompt and `;
  const turns = (from: number, to: number) => (from === to ? `turn ${from}` : `turns ${from}–${to}`);
  if (shown === 'observe') return `${begins}what observe() returns instead of ${turns(1, turn)}.`;
  if (shown === 'answers') return `${begins}the answers of ${turns(1, turn)}, without what the agent wrote.`;
  const first = shown === 'everything' ? 1 : Math.max(1, turn - shownTurns + 1);
  const forgotten = first > 1 ? ` Forgotten: ${turns(1, first - 1)}.` : '';
  return `${begins}${turns(first, turn)} again.${forgotten}`;
}

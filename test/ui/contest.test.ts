import { expect, test } from 'vitest';
import { roundText, winner } from '../../src/ui/stage/Contest.tsx';

const fared = (success: boolean, turns: number) => ({ success, turns });

test.each([
  ['the one who solved the task', fared(true, 4), fared(false, 4), 'reader'],
  ['the agent where it alone did', fared(false, 4), fared(true, 4), 'agent'],
  ['the one with fewer turns where both did', fared(true, 3), fared(true, 2), 'agent'],
  ['nobody where both took as many', fared(true, 3), fared(true, 3), null],
  ['nobody where neither did', fared(false, 2), fared(false, 4), null],
] as const)('a round is won by %s', (_, reader, agent, won) => {
  expect(winner(reader, agent)).toBe(won);
});

test('a draw is called one', () => {
  expect(roundText(fared(true, 3), fared(true, 3))).toBe('A draw. You: solved in 3 turns. Agent: solved in 3 turns.');
  expect(roundText(fared(false, 2), fared(true, 4))).toMatch(/^The agent wins\./);
  expect(roundText(fared(true, 2), fared(true, 4))).toMatch(/^You win\./);
});

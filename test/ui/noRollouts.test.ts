import { expect, test } from 'vitest';
import { noRolloutsWords, imitationWords } from '../../src/ui/run/NoRollouts.tsx';

const READY = { session: 'ready', busy: false, update: 0, knobsDiffer: false, loadFailed: false, label: 'Calculator · SmolLM2' } as const; // prettier-ignore

test('a run that was saved and gone on with says that its rollouts are gone; one that has begun says nothing of the kind', () => {
  expect(noRolloutsWords({ ...READY, update: 4 })).toMatch(/4 updates.*Rollouts aren’t saved/);
  expect(noRolloutsWords({ ...READY, update: 1, busy: true })).toMatch(/1 update\).*Rollouts aren’t saved/);
  expect(noRolloutsWords({ ...READY, session: 'starting', label: 'LockedChest' })).toMatch(/^LockedChest: preparing/);
  expect(noRolloutsWords(READY)).toBe('This run has no rollouts yet. Run training, or step one update.');
});

test('an imitation says that who is imitated errs on purpose, and compares its loss once there are two', () => {
  const after = (losses: readonly number[]) => imitationWords({ total: 30, losses, tries: null, isExpert: false });
  expect(after([])).toMatch(/deliberate mistakes.* follow after step 30\.$/);
  expect(after([0.803])).not.toContain('0.803');
  expect(imitationWords({ total: 30, losses: [], tries: null, isExpert: true })).toMatch(/imitates the expert\./);
  expect(after([0.803, 0.5])).toMatch(/0\.803 at first, 0\.5 in the last step\.$/);
});

test('what it solved by itself is said with the step that this was after', () => {
  const tries = { solved: 12, expert: 32, played: 32, step: 20 };
  const words = imitationWords({ total: 600, losses: [3, 1, 0.9], tries, isExpert: false });
  expect(words).toMatch(/After step 20 it tried 32 training tasks by itself, .* solved 12\. The expert solves 32/);
  expect(imitationWords({ total: 900, losses: [], tries: null, isExpert: false, isOpen: true })).toMatch(/at most 900/);
});

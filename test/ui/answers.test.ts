import { expect, test } from 'vitest';
import { flippedKnobs } from '../../src/runs/recordedReadings.ts';
import { previewNumbers } from '../../src/page/rollout/previewNumbers.ts';
import type { Answer } from '../../src/wire/questions.ts';
import { recordedAnswer } from '../../src/page/view/recordedAnswer.ts';
import { shippedRecording } from '../shippedRecording.ts';

const recording = shippedRecording();
const [update, readings] = [...recording.readings][1]!;
const { batch } = recording.batches.find((kept) => kept.batch.update === update)!;

test('a recording gives the log-probabilities of one row as it gives those of all, and they moved', () => {
  const all = recordedAnswer(recording, { kind: 'logprobs', update, row: null });
  const one = recordedAnswer(recording, { kind: 'logprobs', update, row: 2 });
  if (all.kind !== 'logprobs' || one.kind !== 'logprobs') throw new Error('both are held');
  expect(all.before).toHaveLength(batch.rows * batch.length);
  expect(one.after).toEqual(all.after?.slice(2 * batch.length, 3 * batch.length));
  expect(all.after?.some((after, i) => Math.abs(after - (all.before?.[i] ?? 0)) > 0.01)).toBe(true);
});

test('what could have been written adds up to 1, less what was left out; where one word alone was legal that is certain', () => {
  const [held] = readings.distributions;
  if (!held) throw new Error('a choice is held');
  const ask = (row: number, position: number) =>
    recordedAnswer(recording, { kind: 'distribution', rollout: { update, row }, position });
  const open = ask(held.row, held.position);
  if (open.kind !== 'distribution') throw new Error('it is held');
  const sum = open.now.reduce((total, logprob) => total + Math.exp(logprob), 0);
  expect(open.legal).toBe(16);
  expect(sum).toBeGreaterThan(0.9);
  expect(sum).toBeLessThan(1.001); // four digits of each
  const single = batch.singles.indexOf(1);
  const sure = ask(Math.floor(single / batch.length), single % batch.length);
  if (sure.kind !== 'distribution') throw new Error('it is known');
  expect(sure.now[batch.tokens[single] ?? -1]).toBe(0);
});

test('why a token moved is told of those that moved most; of others, and of what was never recorded, it is said that it is not held', () => {
  const [{ row, position, why } = { row: 0, position: 0, why: null }] = readings.whys;
  expect(recordedAnswer(recording, { kind: 'why', update, row, position })).toEqual({
    kind: 'why',
    why,
    splitCost: null,
  });
  const other = recordedAnswer(recording, { kind: 'why', update, row, position: 0 });
  expect(refusal(other)).toContain('biggest movers');
  const branch = {
    kind: 'branch',
    rollout: { update, row },
    position,
    token: 3,
    temperature: 1,
    drawIndex: 0,
  } as const;
  expect(refusal(recordedAnswer(recording, branch))).toContain('doesn’t include this');
  expect(recordedAnswer(recording, { kind: 'why', update: update + 1, row, position }).kind).toBe('refused');
});

test('with both masks off a recorded batch would have pushed at what the tool wrote; as it was it did not', () => {
  const answer = recordedAnswer(recording, {
    kind: 'preview',
    update,
    changes: { lossMask: 'off', advantageMask: 'off' },
  });
  if (answer.kind !== 'preview' || !answer.preview) throw new Error('it is held');
  const observed = [...batch.roles.keys()].filter((i) => batch.roles[i] === 3);
  expect(observed.every((i) => batch.gradWeights[i] === 0)).toBe(true);
  expect(observed.some((i) => answer.preview?.batch.gradWeights[i] !== 0)).toBe(true);
  const other = recordedAnswer(recording, { kind: 'preview', update, changes: { clipLow: 0.1 } });
  expect(refusal(other)).toContain('only the two masks');
});

test.each(['break-it', 'calculator', 'grpo-s'] as const)(
  'the advantage mask changes no push of a rollout of %s, which has one score',
  (preset) => {
    const of = shippedRecording(preset);
    for (const { batch, config } of of.batches) {
      const changes = flippedKnobs('advantageMask', config);
      const answer = recordedAnswer(of, { kind: 'preview', update: batch.update, changes });
      if (answer.kind !== 'preview' || !answer.preview) throw new Error('it is held');
      expect(previewNumbers({ batch, changes, preview: answer.preview }).sentence, `update ${batch.update}`).toMatch(
        /no push changes|no trained token changes|nothing changes/,
      );
    }
  },
);

function refusal(answer: Answer): string {
  return answer.kind === 'refused' ? answer.message : '';
}

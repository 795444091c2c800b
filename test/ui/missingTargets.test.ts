import { describe, expect, it } from 'vitest';
import { missingTargets, type RunPosition } from '../../src/page/view/linkTargets.ts';
import type { ShownRollout } from '../../src/page/view/currentRollout.ts';
import { readRollout } from '../../src/page/rollout/readRollout.ts';
import { example, exampleVocabulary } from './example.ts';

const viewOf = (row: number): ShownRollout => ({
  batch: example,
  episode: example.episodes[row],
  rollout: readRollout(example, exampleVocabulary, row),
});
const at = (
  row: number,
  turn: number | null = null,
  token: number | null = null,
  shownUpdate: number | null = null,
) => ({
  ...{ shownUpdate, recorded: null as number | null, row, turn, token },
});
const REACHED: RunPosition = { update: example.update, updates: 200 };
const told = (pointed: ReturnType<typeof at>, chosen = pointed, row = 0, reached = REACHED) =>
  missingTargets(pointed, chosen, viewOf(row), reached);

describe('an address that points beyond the batch in view is told what is there', () => {
  it('a rollout', () => {
    expect(told(at(7), at(7), 7)).toEqual([]);
    expect(told(at(8, 99, 99))).toEqual(['rollout 8 isn’t in this batch, which has 0 to 7. Rollout 0 is shown.']);
  });

  it('a turn and a token of a rollout that is there', () => {
    // the first hunt: four guesses, a prompt of two tokens, six a turn, three in the last
    expect(told(at(0, 4, 22))).toEqual([]);
    expect(told(at(0, 5, 23))).toEqual([
      'turn 5 isn’t in this rollout, which has 0 to 4. Its end is shown.',
      'token 23 isn’t in this rollout, which has 0 to 22. No token is selected.',
    ]);
  });

  it('until the reader chooses something else', () => {
    expect(told(at(8), at(3), 3)).toEqual([]);
    expect(told(at(0, 5), at(0, 2))).toEqual([]);
  });

  it('not before there is a batch', () => {
    expect(missingTargets(at(500), at(500), { ...viewOf(0), batch: { ...example, rows: 0 } }, REACHED)).toEqual([]);
    expect(missingTargets(null, at(500), viewOf(0), REACHED)).toEqual([]);
  });

  it('an update of the recording that it does not have, with the one that is shown', () => {
    const recording: RunPosition = { update: null, updates: 200 };
    const link = { ...at(0), recorded: example.update };
    expect(told(link, link, 0, recording)).toEqual([]);
    const wrong = { ...at(0), recorded: example.update + 1 };
    const [sentence = ''] = told(wrong, wrong, 0, recording);
    expect(sentence).toContain(`no update ${example.update + 1}`);
    expect(sentence).toContain(`update ${example.update}.`);
  });

  it('an update: why it can’t come, at once; rollout and token are of that update, and nothing is said of them', () => {
    const link = at(99, null, 999, 137);
    const why = (reached: RunPosition) => told(link, link, 0, reached);
    // training brings it
    expect(why({ update: null, updates: 200 })).toEqual([]);
    expect(why({ update: 12, updates: 200 })).toEqual([]);
    expect(why({ update: 0, updates: 100 })).toEqual([
      expect.stringMatching(/^update 137: the run ends after update 100\./),
    ]);
    expect(why({ update: 150, updates: 200 })).toEqual([expect.stringMatching(/no longer keeps its rollouts/)]);
    // it is there: the token is looked at again
    expect(told(at(0, null, 99, example.update))).toEqual([expect.stringMatching(/^token 99 isn’t in this rollout/)]);
    // the reader went on to the newest
    expect(told(link, at(0), 0, { update: 150, updates: 200 })).not.toContainEqual(expect.stringMatching(/^update/));
  });
});

import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readTokens } from '../../src/page/rollout/readRollout.ts';
import { trainedLook } from '../../src/page/rollout/trainedLook.ts';
import { untrainedTurns } from '../../src/domain/tokenMasks.ts';
import { openGame } from '../../src/session/playedGame.ts';
import { creditOf, off, ON } from '../rl/worked.ts';

const config = parseConfig({ env: 'number-hunt', groupSize: 2 });
const game = openGame();
const play = (tokens: readonly number[]) => {
  const answer = game({ config, seed: 5, environmentSeed: 3, tokens });
  if (answer.kind !== 'play') throw new Error(answer.kind);
  return answer;
};
/** Three turns: always the last word that is allowed, which is a guess that doesn't find the number. */
function threeTurns() {
  let answer = play([]);
  while (answer.played.stop === null && answer.played.finishedTurns.length < 3)
    answer = play([...answer.tokens, answer.played.legal.at(-1)!]);
  return answer;
}

test.each([
  [{}, 0],
  [{ observationLoss: 0.05 }, 1],
  [{ observationLoss: 0.05, trainTurns: 'last' }, 1],
  [{ observationLoss: 0.05, lossMask: 'off' }, 0],
  [{ lossMask: 'off', trainTurns: 'first' }, 0],
] as const)('with %j a played token is trained, left out or predicted as credit() says', (knobs, predicts) => {
  const { played, vocabulary } = threeTurns();
  const { roles, turns, bodies } = played;
  const look = trainedLook(readTokens(played, vocabulary), { ...config, ...knobs }, bodies);
  const length = roles.length;
  const trainTurns = 'trainTurns' in knobs ? knobs.trainTurns : 'all';
  const untrained = untrainedTurns({ roles, turns, length }, trainTurns);
  const masks = 'lossMask' in knobs ? off('policy') : ON;
  const given = { ...('observationLoss' in knobs && { bodies }), ...(untrained && { untrained }) };
  const want = creditOf([[...roles]], Array<number>(length).fill(0), { masks }, given).masks;
  const shown = Array.from(roles, (_, t) => look(t));
  expect(shown.map(({ trained }) => Number(trained))).toEqual([...want.policy]);
  expect(shown.map(({ predicted }) => Number(predicted))).toEqual([...want.observation]);
  expect(Math.max(...want.observation)).toBe(predicts);
});

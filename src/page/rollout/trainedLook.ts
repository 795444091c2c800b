import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import { observationMask, responseMask, untrainedTurns } from '../../domain/tokenMasks.ts';
import { Role } from '../../domain/tokens.ts';
import type { Rollout } from './readRollout.ts';
import { type Look, memoizedLook } from './tokenLook.ts';

const ONE_GROUP = [0];

/**
 * Look of a rollout that is not trained on: marks the tokens that the losses would train with these knobs. Without
 * `bodies`, which mark the words of observations, none is marked as predicted.
 */
export function trainedLook(
  { words, tags, kinds, turns: shownTurns }: Omit<Rollout, 'row'>,
  config: RunConfig,
  bodies?: Uint8Array,
): Look {
  const length = words.length;
  const roles = Uint8Array.from(kinds, (kind) =>
    kind === 'prompt' || kind === 'observation' ? Role[kind] : Role.action,
  );
  const turns = new Uint8Array(length);
  for (const { turn, spans } of shownTurns) for (const { tokens } of spans) for (const t of tokens) turns[t] = turn;
  const onlyAgent = agentOnly(config, 'policyTokens');
  const untrained = untrainedTurns({ roles, turns, length }, config.trainTurns);
  const trained = responseMask({ roles, length }, ONE_GROUP, onlyAgent, untrained);
  const isLearned = onlyAgent && config.observationLoss > 0;
  const predicted = observationMask({ roles, length }, ONE_GROUP, isLearned ? bodies : undefined);
  return memoizedLook((t) => ({
    ...{ word: words[t] ?? '', kind: kinds[t] ?? 'call', tag: tags[t] ?? false },
    ...{ trained: trained[t] === 1, predicted: predicted[t] === 1 },
    ...(predicted[t] === 1 && { title: 'learned as a prediction' }),
  }));
}

import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import type { Rollout } from './readRollout.ts';
import { type Look, memoizedLook } from './tokenLook.ts';

/** Look of a rollout that is not trained on: marks the tokens that the loss would train with these knobs. */
export function trainedLook({ words, tags, kinds, turns }: Omit<Rollout, 'row'>, config: RunConfig): Look {
  const toolTrained = !agentOnly(config, 'policyTokens');
  const untrained = new Set(untrainedSpans(turns, config).flatMap(({ tokens }) => tokens));
  return memoizedLook((t) => {
    const kind = kinds[t] ?? 'call';
    const trained = !untrained.has(t) && (kind === 'observation' ? toolTrained : kind !== 'prompt');
    return { word: words[t] ?? '', kind, tag: tags[t] ?? false, trained };
  });
}

/** The spans of the turns that `trainTurns` leaves out of the loss. */
function untrainedSpans(turns: Rollout['turns'], { trainTurns }: RunConfig): Rollout['turns'][number]['spans'] {
  if (trainTurns === 'all') return [];
  const byAgent = turns.filter(({ spans }) => spans.some(({ kind }) => kind !== 'prompt' && kind !== 'observation'));
  const trained = trainTurns === 'first' ? 1 : byAgent.at(-1)?.turn;
  return turns.filter(({ turn }) => turn !== trained).flatMap(({ spans }) => spans);
}

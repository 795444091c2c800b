import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import type { Rollout } from './readRollout.ts';
import { type Look, memoizedLook } from './tokenLook.ts';

/** Look of a rollout that is not trained on: marks the tokens that the loss would train with these knobs. */
export function trainedLook({ words, tags, kinds }: Omit<Rollout, 'row'>, config: RunConfig): Look {
  const toolTrained = !agentOnly(config, 'policyTokens');
  return memoizedLook((t) => {
    const kind = kinds[t] ?? 'call';
    const trained = kind === 'observation' ? toolTrained : kind !== 'prompt';
    return { word: words[t] ?? '', kind, tag: tags[t] ?? false, trained };
  });
}

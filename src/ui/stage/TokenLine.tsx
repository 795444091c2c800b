import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import { PlainToken } from '../rollout/PlainToken.tsx';
import { SpanTokens } from '../rollout/SpanTokens.tsx';
import type { Play } from './play.ts';

interface Props {
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig; // that says what is trained
}

/** A rollout as one line: what the agent wrote and, hatched, what came back; tags are left out. */
export function TokenLine({ play, step, config }: Props) {
  const { words, tags, kinds, turns, writing } = play.rollout;
  const toolTrained = !agentOnly(config, 'policyTokens');
  const shown = play.ends[Math.min(step, play.ends.length) - 1] ?? 0;
  const own = turns.filter(({ turn }) => turn > 0).flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens));
  return (
    <div className="token-line">
      <SpanTokens writing={writing}>
        {own
          .filter((t) => t < shown && tags[t] !== true)
          .map((t) => {
            const kind = kinds[t] ?? 'call';
            return (
              <PlainToken key={t} word={words[t] ?? ''} kind={kind} tag={false} trained={kind !== 'observation' || toolTrained} /> // prettier-ignore
            );
          })}
      </SpanTokens>
    </div>
  );
}

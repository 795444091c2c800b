import { useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import { Token } from '../rollout/TokenView.tsx';
import { trainedLook } from '../rollout/trainedLook.ts';
import type { Play } from './play.ts';

interface Props {
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig; // that says what is trained
}

/** A rollout as one line: what the agent wrote and, hatched, what came back; tags are left out. */
export function TokenLine({ play, step, config }: Props) {
  const { tags, turns, writing } = play.rollout;
  const look = useMemo(() => trainedLook(play.rollout, config), [play, config]);
  const shown = play.ends[Math.min(step, play.ends.length) - 1] ?? 0;
  const own = turns.filter(({ turn }) => turn > 0).flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens));
  return (
    <div className="token-line">
      <span className="span-tokens" data-writing={writing}>
        {own
          .filter((t) => t < shown && tags[t] !== true)
          .map((t) => (
            <Token key={t} t={t} setting={writing} look={look(t)} />
          ))}
      </span>
    </div>
  );
}

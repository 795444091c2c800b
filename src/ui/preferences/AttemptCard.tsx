import { useMemo } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { KINDS, STOPS } from '../rollout/kinds.ts';
import { live } from '../run/liveStore.ts';
import type { Pair } from './pairs.ts';
import { readRollout, textOf } from '../rollout/readRollout.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';

interface Props {
  readonly side: 'A' | 'B';
  readonly pair: Pair;
  readonly episode: EpisodeView;
}

/** A rollout in short: who said what, tags left out. What it was paid and scored stays hidden, or it would make the choice. */
export function AttemptCard({ side, pair, episode }: Props) {
  const rollout = useMemo(() => readRollout(pair.batch, live.vocabulary, episode.row), [pair, episode]);
  return (
    <section className="card attempt" aria-label={`Rollout ${side}`}>
      <h3>{side}</h3>
      <ol>
        {rollout.turns
          .filter(({ turn }) => turn > 0)
          .flatMap(({ turn, spans }) =>
            spans.map(({ kind, tokens }, i) => (
              <li key={`${turn} ${i}`} data-kind={kind}>
                <SpanLabel of={KINDS[kind]} />
                <span className="word">
                  {textOf(
                    rollout,
                    tokens.filter((t) => !rollout.tags[t]),
                  )}
                </span>
              </li>
            )),
          )}
      </ol>
      <p className="faint">
        {STOPS[episode.stop]} · {episode.toolCalls} tool calls
      </p>
    </section>
  );
}

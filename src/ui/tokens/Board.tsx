import { useRef, useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { viewUpTo } from '../../page/rollout/viewUpTo.ts';
import { Icon } from '../parts/Icon.tsx';
import { useSize } from '../../page/browser/useSize.ts';
import { isOver, outcome, type Play, type SideResult, turnAt } from '../../page/stage/play.ts';
import { Token } from './TokenView.tsx';
import { trainedLook } from '../../page/rollout/trainedLook.ts';

interface Props {
  readonly title: string;
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig;
  readonly side: 'before' | 'after';
  readonly glows?: boolean; // default: if the task is solved
}

/** Aspect ratio (width / height) from which a board has more space beside its drawing than below it. */
export const WIDE_ASPECT = 1.4;

/** Kinds of drawings that don't show the question themselves. */
export const KINDS_WITHOUT_QUESTION: readonly EnvView['kind'][] = ['graph', 'passages', 'bandit'];

export function Outcome(result: SideResult) {
  return (
    <>
      <Icon name={result.success ? 'check' : 'cross'} /> {outcome(result)}
    </>
  );
}

export function Board({ title, play, step, config, side, glows }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const over = isOver(play, step);
  const turn = turnAt(play, step);
  const { view, success, question } = play.episode;
  const solved = over && success;
  const shownView = viewUpTo(view, turn, over);
  return (
    <section
      className="board"
      aria-label={title}
      data-side={side}
      data-over={over}
      data-solved={solved}
      data-glows={glows ?? solved}
    >
      <div className="line board-title">
        <h2>{title}</h2>
        <p className="line board-outcome gap-2 soft strong large">{over && <Outcome {...play.episode} />}</p>
      </div>
      {KINDS_WITHOUT_QUESTION.includes(view.kind) && <p className="soft cut">{question}</p>}
      <div className="board-view" translate="no" ref={box}>
        <Drawing
          view={shownView}
          turn={turn}
          group={[shownView]}
          minRows={view.kind === 'number-line' ? view.guesses.length : 0}
          wide={width > WIDE_ASPECT * height}
        />
      </div>
      <TokenLine play={play} step={step} config={config} />
    </section>
  );
}

interface TokenLineProps {
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig; // it determines which tokens are trained
}

/** A rollout as one line of tokens, without tags: the agent's words and, hatched, the tool's. */
function TokenLine({ play, step, config }: TokenLineProps) {
  const { tags, turns, writing } = play.rollout;
  const look = useMemo(() => trainedLook(play.rollout, config), [play, config]);
  const shownTokens = play.stepEnds[Math.min(step, play.stepEnds.length) - 1] ?? 0;
  const responseTokens = turns
    .filter(({ turn }) => turn > 0)
    .flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens));
  return (
    <div className="token-line flex large">
      <span className="span-tokens flex wrap gap-1" data-writing={writing} translate="no">
        {responseTokens
          .filter((t) => t < shownTokens && tags[t] !== true)
          .map((t) => (
            <Token key={t} t={t} layout={writing} look={look(t)} />
          ))}
      </span>
    </div>
  );
}

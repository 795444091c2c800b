import { useRef, useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { viewUpTo } from '../drawings/viewUpTo.ts';
import { Icon } from '../parts/Icon.tsx';
import { counted } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';
import { type SideResult, isOver, type Play, turnAt } from './play.ts';
import { Token } from '../rollout/TokenView.tsx';
import { trainedLook } from '../rollout/trainedLook.ts';

interface Props {
  readonly title: string;
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig;
  readonly side: 'before' | 'after';
  readonly glows?: boolean; // else where the task is solved
}

/** Wider than that for its height a board has more room beside than below. */
export const WIDE = 1.4;

/** Drawings that do not show by themselves what is asked. */
export const ASKED: readonly EnvView['kind'][] = ['graph', 'passages', 'bandit'];

/** How a play went, in words. */
export function outcome({ success, turns }: SideResult): string {
  return success ? `solved in ${counted(turns, 'turn')}` : 'not solved';
}

/** The same with its sign. */
export function Outcome(fared: SideResult) {
  return (
    <>
      <Icon name={fared.success ? 'check' : 'cross'} /> {outcome(fared)}
    </>
  );
}

/** An agent at its task: the board as far as the play has come, and the same as tokens. */
export function Board({ title, play, step, config, side, glows }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const over = isOver(play, step);
  const turn = turnAt(play, step);
  const { view, success, question } = play.episode;
  const solved = over && success;
  const shown = viewUpTo(view, turn, over);
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
        <p className="line board-outcome">{over && <Outcome {...play.episode} />}</p>
      </div>
      {ASKED.includes(view.kind) && <p className="soft cut">{question}</p>}
      <div className="board-view" ref={box}>
        <Drawing
          view={shown}
          turn={turn}
          group={[shown]}
          rows={view.kind === 'number-line' ? view.guesses.length : 0}
          wide={width > WIDE * height}
        />
      </div>
      <TokenLine play={play} step={step} config={config} />
    </section>
  );
}

interface TokenLineProps {
  readonly play: Play;
  readonly step: number;
  readonly config: RunConfig; // that says what is trained
}

/** A rollout as one line: what the agent wrote and, hatched, what came back; tags are left out. */
function TokenLine({ play, step, config }: TokenLineProps) {
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

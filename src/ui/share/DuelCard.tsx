import type { Ref } from 'react';
import { Drawing, IS_SVG, taskTitle } from '../drawings/Drawing.tsx';
import { viewUpTo } from '../drawings/viewUpTo.ts';
import { ASKED, outcome } from '../stage/Board.tsx';
import { isOver, type Play, turnAt } from '../stage/play.ts';
import { CARD, CardFrame, PAD } from './CardFrame.tsx';
import { CardTokens } from './CardTokens.tsx';
import { agentName, duelHeadline, type DuelMoment } from './duel.ts';

const GAP = 24;
const WIDTH = (CARD.width - 2 * PAD - GAP) / 2;
const TOP = 200; // of a side's title
const BOARD = { y: 216, height: 268 };
const TOKENS = { y: 498, height: 76 };

interface Props {
  readonly duel: DuelMoment;
  readonly address: string; // as people read it
  readonly ref?: Ref<SVGSVGElement>;
}

/** Two agents at one task as one picture: a board each, with its tokens below. */
export function DuelCard({ duel, address, ref }: Props) {
  const { before, after, toolTrained } = duel;
  const { view, question } = after.episode;
  const headline = duelHeadline(duel);
  return (
    <CardFrame
      {...{ ref, headline, address }}
      title={taskTitle(view)}
      words={ASKED.includes(view.kind) ? question : ''}
      hatched={!toolTrained}
    >
      <Side play={before} duel={duel} x={PAD} />
      <Side play={after} duel={duel} x={PAD + WIDTH + GAP} />
    </CardFrame>
  );
}

/** One of the two. */
function Side({ play, duel, x }: { readonly play: Play; readonly duel: DuelMoment; readonly x: number }) {
  const { step, toolTrained } = duel;
  const { episode, rollout, ends } = play;
  const { view } = episode;
  const over = isOver(play, step);
  const turn = turnAt(play, step);
  const drawn = viewUpTo(view, turn, over);
  const shown = ends[Math.min(step, ends.length) - 1] ?? 0;
  const own = rollout.turns
    .filter((each) => each.turn > 0)
    .flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens));
  const board = IS_SVG[view.kind];
  return (
    <>
      <text className="card-side" x={x} y={TOP} fontSize={27}>
        {agentName(play)}
      </text>
      {over && (
        <text
          className={episode.success ? 'card-solved' : 'card-soft'}
          x={x + WIDTH}
          y={TOP}
          fontSize={25}
          textAnchor="end"
        >
          {episode.success ? '✓' : '✕'} {outcome(episode)}
        </text>
      )}
      {board && (
        <svg x={x} width={WIDTH} {...BOARD}>
          <Drawing
            view={drawn}
            turn={turn}
            group={[drawn]}
            rows={view.kind === 'number-line' ? view.guesses.length : 0}
            wide
          />
        </svg>
      )}
      <CardTokens
        rollout={rollout}
        positions={own.filter((t) => t < shown && rollout.tags[t] !== true)}
        isTrained={(t) => rollout.kinds[t] !== 'observation' || toolTrained}
        box={{ x, width: WIDTH, ...(board ? TOKENS : { y: BOARD.y, height: TOKENS.y + TOKENS.height - BOARD.y }) }}
      />
    </>
  );
}

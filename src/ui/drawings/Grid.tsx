import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'grid' }>;
const SIZE = 320;
const PAD = 16;
const ARROWS = { left: '←', down: '↓', right: '→', up: '↑' } as const;

interface GridProps {
  readonly view: View;
  readonly turn: number;
  readonly group: readonly EnvView[]; // the views of all rollouts of the task, including this one
}

/**
 * A board after `turn`: the cells, the agent's path, the number of the last turn, and how often the group's rollouts
 * visited each cell.
 */
export function Grid({ view, turn, group }: GridProps) {
  const { size, cells, start } = view;
  const side = (SIZE - 2 * PAD) / size;
  const x = (cell: number) => PAD + (cell % size) * side;
  const y = (cell: number) => PAD + Math.floor(cell / size) * side;
  const middle = (cell: number) => `${x(cell) + side / 2} ${y(cell) + side / 2}`;
  const past = view.moves.filter((move) => turn === 0 || move.turn <= turn);
  const at = past.at(-1)?.at ?? start;
  const box = past.at(-1)?.box ?? view.box;
  const heat = visits(group, cells.length);
  const most = Math.max(1, ...heat);
  return (
    <svg className="env-svg grid" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={descriptionOf(view)}>
      {cells.map((cell, i) => (
        <g key={i} className="cell" data-cell={cell}>
          <rect x={x(i) + 1} y={y(i) + 1} width={side - 2} height={side - 2} rx={5} />
          <rect
            className="heat"
            x={x(i) + 1}
            y={y(i) + 1}
            width={side - 2}
            height={side - 2}
            rx={5}
            opacity={(0.6 * (heat[i] ?? 0)) / most}
          />
          <text x={x(i) + 6} y={y(i) + 13}>
            {nameOf(i, size)}
          </text>
          {cell !== 'floor' && (
            <text className="cell-kind" x={x(i) + side / 2} y={y(i) + side - 7} textAnchor="middle">
              {cell}
            </text>
          )}
        </g>
      ))}
      <path className="walk" d={`M${[start, ...past.map((move) => move.at)].map(middle).join('L')}`} />
      {box !== null && (
        <rect className="box" x={x(box) + side / 4} y={y(box) + side / 4} width={side / 2} height={side / 2} rx={3} />
      )}
      <circle className="walker" cx={x(at) + side / 2} cy={y(at) + side / 2} r={side / 5} />
      <text className="walker-turn" x={x(at) + side / 2} y={y(at) + side / 2 + 4} textAnchor="middle">
        {past.at(-1)?.turn ?? 0}
      </text>
      <text className="moves" x={SIZE / 2} y={SIZE - 3} textAnchor="middle">
        {past.map(({ direction, asMeant }) => `${ARROWS[direction]}${asMeant ? '' : '✕'}`).join(' ')}
      </text>
    </svg>
  );
}

/** How often the rollouts of a group moved to each cell. */
function visits(group: readonly EnvView[], cells: number): readonly number[] {
  const counts = Array.from({ length: cells }, () => 0);
  for (const view of group) {
    if (view.kind === 'grid') for (const { at } of view.moves) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

function nameOf(cell: number, size: number): string {
  return `${String.fromCharCode(97 + Math.floor(cell / size))}${(cell % size) + 1}`;
}

function descriptionOf({ title, size, cells, start, box, moves }: View): string {
  const of = (kind: View['cells'][number]) =>
    cells.flatMap((cell, i) => (cell === kind ? [nameOf(i, size)] : [])).join(' ') || 'none';
  const moveTexts = moves.map(
    (move) =>
      `turn ${move.turn}: ${move.direction} to ${nameOf(move.at, size)}${move.box === null ? '' : `, box at ${nameOf(move.box, size)}`}`,
  );
  return [
    `${title}, ${size} by ${size}. Start ${nameOf(start, size)}, goal ${of('goal')}, holes ${of('hole')}, walls ${of('wall')}`,
    ...(box === null ? [] : [`box ${nameOf(box, size)}`]),
    moveTexts.join('; ') || 'no move yet',
  ].join('. ');
}

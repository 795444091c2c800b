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

export function Grid({ view, turn, group }: GridProps) {
  const { size, cells, start } = view;
  const cellSize = (SIZE - 2 * PAD) / size;
  const x = (cell: number) => PAD + (cell % size) * cellSize;
  const y = (cell: number) => PAD + Math.floor(cell / size) * cellSize;
  const middle = (cell: number) => `${x(cell) + cellSize / 2} ${y(cell) + cellSize / 2}`;
  const movesSoFar = view.moves.filter((move) => turn === 0 || move.turn <= turn);
  const agentCell = movesSoFar.at(-1)?.at ?? start;
  const box = movesSoFar.at(-1)?.box ?? view.box;
  const visitCounts = visits(group, cells.length);
  const maxVisits = Math.max(1, ...visitCounts);
  return (
    <svg className="env-svg" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={descriptionOf(view)}>
      {cells.map((cell, i) => (
        <g key={i} className="cell" data-cell={cell}>
          <rect x={x(i) + 1} y={y(i) + 1} width={cellSize - 2} height={cellSize - 2} rx={5} />
          <rect
            className="heat"
            x={x(i) + 1}
            y={y(i) + 1}
            width={cellSize - 2}
            height={cellSize - 2}
            rx={5}
            opacity={(0.6 * (visitCounts[i] ?? 0)) / maxVisits}
          />
          <text x={x(i) + 6} y={y(i) + 13}>
            {cellName(i, size)}
          </text>
          {cell !== 'floor' && (
            <text className="cell-kind" x={x(i) + cellSize / 2} y={y(i) + cellSize - 7} textAnchor="middle">
              {cell}
            </text>
          )}
        </g>
      ))}
      <path className="walk" d={`M${[start, ...movesSoFar.map((move) => move.at)].map(middle).join('L')}`} />
      {box !== null && (
        <rect
          className="box"
          x={x(box) + cellSize / 4}
          y={y(box) + cellSize / 4}
          width={cellSize / 2}
          height={cellSize / 2}
          rx={3}
        />
      )}
      <circle className="walker" cx={x(agentCell) + cellSize / 2} cy={y(agentCell) + cellSize / 2} r={cellSize / 5} />
      <text
        className="walker-turn"
        x={x(agentCell) + cellSize / 2}
        y={y(agentCell) + cellSize / 2 + 4}
        textAnchor="middle"
      >
        {movesSoFar.at(-1)?.turn ?? 0}
      </text>
      <text className="moves" x={SIZE / 2} y={SIZE - 3} textAnchor="middle">
        {movesSoFar.map(({ direction, asMeant }) => `${ARROWS[direction]}${asMeant ? '' : '✕'}`).join(' ')}
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

function cellName(cell: number, size: number): string {
  return `${String.fromCharCode(97 + Math.floor(cell / size))}${(cell % size) + 1}`;
}

function descriptionOf({ title, size, cells, start, box, moves }: View): string {
  const cellsOfKind = (kind: View['cells'][number]) =>
    cells.flatMap((cell, i) => (cell === kind ? [cellName(i, size)] : [])).join(' ') || 'none';
  const moveTexts = moves.map(
    (move) =>
      `turn ${move.turn}: ${move.direction} to ${cellName(move.at, size)}${move.box === null ? '' : `, box at ${cellName(move.box, size)}`}`,
  );
  return [
    `${title}, ${size} by ${size}. Start ${cellName(start, size)}, goal ${cellsOfKind('goal')}, holes ${cellsOfKind('hole')}, walls ${cellsOfKind('wall')}`,
    ...(box === null ? [] : [`box ${cellName(box, size)}`]),
    moveTexts.join('; ') || 'no move yet',
  ].join('. ');
}

import type { Scene } from './scene.ts';

const SIDE = 20;
const LEFT = 26;
const TOP = 4;
const KINDS: Readonly<Record<string, string>> = { '.': 'floor', '#': 'wall', o: 'hole', '*': 'goal' };

/** A board with the walk over it, and the box where it stood at first. */
export function BoardScene({
  scene: { size, cells, walk, box },
}: {
  readonly scene: Extract<Scene, { kind: 'board' }>;
}) {
  const x = (cell: number) => LEFT + SIDE * (cell % size);
  const y = (cell: number) => TOP + SIDE * Math.floor(cell / size);
  const middle = (cell: number) => `${x(cell) + SIDE / 2} ${y(cell) + SIDE / 2}`;
  const last = walk.at(-1) ?? 0;
  return (
    <>
      {Array.from(cells, (cell, i) => (
        <rect key={i} className={KINDS[cell]} x={x(i) + 1} y={y(i) + 1} width={SIDE - 2} height={SIDE - 2} rx={3} />
      ))}
      <path className="act" d={`M${walk.map(middle).join('L')}`} />
      {box !== null && (
        <rect className="box" x={x(box) + 5} y={y(box) + 5} width={SIDE - 10} height={SIDE - 10} rx={2} />
      )}
      <circle className="act" cx={x(walk[0] ?? 0) + SIDE / 2} cy={y(walk[0] ?? 0) + SIDE / 2} r={3} />
      <circle className="done" cx={x(last) + SIDE / 2} cy={y(last) + SIDE / 2} r={4.5} />
    </>
  );
}

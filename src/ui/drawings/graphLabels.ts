import type { Point } from './GraphName.tsx';

/** A search as it is drawn: a quadratic curve with a label of a width. */
export interface CurvedEdge {
  readonly from: Point;
  readonly middle: Point; // its control point
  readonly to: Point;
  readonly wide: number; // of the label
}

/** Height of a label. */
export const TALL = 18;
/** Where along its curve a label may stand: at its half if that is free. */
const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/** Where labels stand so that none covers another, nor a node where that can be helped. */
export function labelPlaces(bends: readonly CurvedEdge[], nodes: readonly Point[], node: number): readonly Point[] {
  const taken: { readonly at: Point; readonly wide: number }[] = [];
  for (const bend of bends) {
    const cost = (at: Point) => {
      const labels = taken.filter((other) => meet(at, bend.wide, other.at, other.wide, TALL)).length;
      const covered = nodes.filter((other) => meet(at, bend.wide, other, 2 * node, (TALL + 2 * node) / 2)).length;
      return (nodes.length + 1) * labels + covered;
    };
    const places = PLACES.map((share) => along(bend, share));
    const least = Math.min(...places.map(cost));
    taken.push({ at: places.find((at) => cost(at) === least) ?? bend.middle, wide: bend.wide });
  }
  return taken.map(({ at }) => at);
}

/** Whether two boxes of these widths, whose middles must be `tall` apart, meet. */
function meet(a: Point, wideA: number, b: Point, wideB: number, tall: number): boolean {
  return Math.abs(a.x - b.x) < (wideA + wideB) / 2 + 2 && Math.abs(a.y - b.y) < tall + 2;
}

/** A point of a quadratic curve. */
function along({ from, middle, to }: CurvedEdge, share: number): Point {
  const mix = (a: number, b: number, c: number) => (1 - share) ** 2 * a + 2 * share * (1 - share) * b + share ** 2 * c;
  return { x: mix(from.x, middle.x, to.x), y: mix(from.y, middle.y, to.y) };
}

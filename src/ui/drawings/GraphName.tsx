/** Side of the drawing. */
export const SIZE = 320;
export const CENTRE = SIZE / 2;
/** Width of a letter of a relation's label. */
export const LETTER = 5.7;
const WIDE = 6.4; // of a name beside its node

/** Letters of a name that fits into its node. */
export const SHORT = 6;
/** Names in their nodes. */
export const NAMES_INSIDE = { rx: 118, ry: 118, node: 14, margin: 0 } as const;
/** Names beside their nodes, which are small and leave room to the left and right. */
export const NAMES_BESIDE = { rx: 84, ry: 128, node: 6, margin: 24 } as const;

/** A place in the drawing. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

interface NameProps {
  readonly name: string;
  readonly at: Point;
  readonly layout: typeof NAMES_INSIDE | typeof NAMES_BESIDE;
}

/** A name in its node or on the outer side of it, as much of it as fits; the whole of it is the node's title. */
export function Name({ name, at, layout: { node, margin } }: NameProps) {
  const away = at.x - CENTRE;
  if (margin === 0) {
    return (
      <text x={at.x} y={at.y + 4} textAnchor="middle">
        {name}
      </text>
    );
  }
  if (Math.abs(away) < 1) {
    return (
      <text x={at.x} y={at.y + (at.y < CENTRE ? -node - 8 : node + 16)} textAnchor="middle">
        {shortened(name, SIZE / 2 / WIDE)}
      </text>
    );
  }
  const room = SIZE / 2 + margin - Math.abs(away) - node - 6;
  return (
    <text x={at.x + Math.sign(away) * (node + 6)} y={at.y + 4} textAnchor={away > 0 ? 'start' : 'end'}>
      {shortened(name, room / WIDE)}
    </text>
  );
}

/** As much of a text as fits. */
export function shortened(text: string, most: number): string {
  const letters = Array.from(text.slice(0, 2 * Math.floor(Math.max(0, most)) + 2));
  return letters.length <= most ? text : `${letters.slice(0, Math.floor(most) - 1).join('')}…`;
}

import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'graph' }>;
const LOOP_HEIGHT = 26; // of the edge for a fact from an entity to itself
const MAX_RELATION_CHARS = 18; // longer names of relations are shortened

/**
 * A search over a graph: entities on a ring, all facts in a faint colour, the gold path dashed, and searches
 * highlighted with their turn.
 */
export function Graph({ view, turn }: { readonly view: View; readonly turn: number }) {
  const layout = view.entities.every((name) => name.length <= MAX_INSIDE_CHARS) ? NAMES_INSIDE : NAMES_BESIDE;
  const { rx, ry, node, margin } = layout;
  const at = (entity: number): Point => {
    const angle = (2 * Math.PI * entity) / view.entities.length - Math.PI / 2;
    return { x: CENTRE + rx * Math.cos(angle), y: CENTRE + ry * Math.sin(angle) };
  };
  const name = (entity: number | null) => (entity === null ? 'nothing' : (view.entities[entity] ?? '?'));
  const searchText = view.searched
    .map((s) => `turn ${s.turn}: ${name(s.entity)} ${view.relations[s.relation] ?? ''} gives ${name(s.to)}`)
    .join('; ');
  const nodes = view.entities.map((_, i) => at(i));
  const bends = view.searched.map((search) => bendOf(search, view, at));
  const labels = labelPlaces(bends, nodes, node);
  const searches = view.searched.map((search, i) => ({
    ...{ search, view, bend: bends[i]!, label: labels[i]! },
    ...{ now: search.turn === turn, later: turn > 0 && search.turn > turn },
  }));
  const label = `Graph of ${view.entities.length} entities. The answer is ${name(view.answer)}, given: ${name(view.given)}. ${searchText}`;
  return (
    <svg
      className="env-svg graph"
      data-names={margin === 0 ? 'inside' : 'beside'}
      viewBox={`${-margin} 0 ${SIZE + 2 * margin} ${SIZE}`}
      role="img"
      aria-label={label}
    >
      {view.edges.flatMap((targets, relation) =>
        targets.map(
          (to, entity) =>
            to !== null && (
              <path key={`${relation}-${entity}`} className="fact" d={edge(at(entity), at(to), relation, node)} />
            ),
        ),
      )}
      {view.gold.map(({ entity, relation, to }, hop) => (
        <path key={`gold-${hop}`} className="gold" d={edge(at(entity), at(to), relation, node)} />
      ))}
      {searches.map((search) => (
        <Search key={search.search.turn} {...search} node={node} />
      ))}
      {searches.map((search) => (
        <Label key={search.search.turn} {...search} />
      ))}
      {view.entities.map((entity, i) => (
        <g key={entity} className="entity" data-start={view.gold[0]?.entity === i} data-given={view.given === i}>
          <title>{entity}</title>
          {view.answer === i && <circle className="answer-ring" cx={at(i).x} cy={at(i).y} r={node + 4} />}
          <circle cx={at(i).x} cy={at(i).y} r={node} />
          <Name name={entity} at={at(i)} layout={layout} />
        </g>
      ))}
    </svg>
  );
}

interface SearchProps {
  readonly search: View['searched'][number];
  readonly bend: CurvedEdge;
  readonly label: Point;
  readonly node: number;
  readonly view: View;
  readonly now: boolean;
  readonly later: boolean;
}

/** The curve of a search. If it found nothing, it ends half way to the centre. */
function bendOf(search: View['searched'][number], view: View, at: (entity: number) => Point): CurvedEdge {
  const from = at(search.entity);
  const to = search.to === null ? { x: (from.x + CENTRE) / 2, y: (from.y + CENTRE) / 2 } : at(search.to);
  const wide = 14 + LABEL_CHAR_WIDTH * searchLabel(search, view).length;
  // the label of a loop is moved towards the centre, so that it doesn't cover the node
  const loop = search.to === search.entity;
  const inwards = { x: from.x + (CENTRE - from.x) * 0.9, y: from.y + (CENTRE - from.y) * 0.9 };
  return { from, middle: loop ? inwards : control(from, to, search.relation), to, wide };
}

/** The label of a search: its turn and the relation that was looked up. */
function searchLabel(search: View['searched'][number], view: View): string {
  const relation = view.relations[search.relation] ?? '';
  return `${search.turn} · ${search.to === null ? 'none' : shortened(relation, MAX_RELATION_CHARS)}`;
}

function Search({ search, bend: { from, to }, node, view, now, later }: Omit<SearchProps, 'label'>) {
  return (
    <g className="search" data-now={now} data-later={later} data-failed={search.to === null}>
      <title>{view.relations[search.relation] ?? ''}</title>
      <path d={edge(from, to, search.relation, node)} />
    </g>
  );
}

/** The label of a search. Labels are drawn after all curves, so that no curve crosses them. */
function Label({ search, bend: { wide }, label, view, now, later }: Omit<SearchProps, 'node'>) {
  return (
    <g className="search-label search" data-now={now} data-later={later} transform={`translate(${label.x} ${label.y})`}>
      <title>{view.relations[search.relation] ?? ''}</title>
      <rect x={-wide / 2} y={-LABEL_HEIGHT / 2} width={wide} height={LABEL_HEIGHT} rx={9} />
      <text y={4} textAnchor="middle">
        {searchLabel(search, view)}
      </text>
    </g>
  );
}

/**
 * The control point of an edge. Edges bend towards the centre, by a different amount for each relation, so that
 * parallel facts stay apart.
 */
function control(a: Point, b: Point, relation: number): Point {
  const pull = 0.25 + 0.22 * relation;
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  return { x: middle.x + (CENTRE - middle.x) * pull, y: middle.y + (CENTRE - middle.y) * pull };
}

function edge(a: Point, b: Point, relation: number, node: number): string {
  if (a.x === b.x && a.y === b.y) {
    const away = 1 + (node + LOOP_HEIGHT + 6 * relation) / NAMES_INSIDE.rx;
    const [x, y] = [CENTRE + (a.x - CENTRE) * away, CENTRE + (a.y - CENTRE) * away];
    const [sx, sy] = [(a.y - CENTRE) * 0.18, (CENTRE - a.x) * 0.18];
    return `M${a.x} ${a.y}C${x + sx} ${y + sy} ${x - sx} ${y - sy} ${a.x} ${a.y}`;
  }
  const c = control(a, b, relation);
  return `M${a.x} ${a.y}Q${c.x} ${c.y} ${b.x} ${b.y}`;
}

/** The drawn curve of a search, a quadratic Bézier curve with a label. */
export interface CurvedEdge {
  readonly from: Point;
  readonly middle: Point; // the control point
  readonly to: Point;
  readonly wide: number; // width of the label
}

const LABEL_HEIGHT = 18;
/** The places on its curve where a label may be, as curve parameters; the first free one is used. */
const LABEL_PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/**
 * The places of the labels. They are chosen so that labels don't cover each other and, if possible, don't cover nodes.
 */
export function labelPlaces(bends: readonly CurvedEdge[], nodes: readonly Point[], node: number): readonly Point[] {
  const labelBoxes: { readonly at: Point; readonly wide: number }[] = [];
  for (const bend of bends) {
    const cost = (at: Point) => {
      const labels = labelBoxes.filter((other) => meet(at, bend.wide, other.at, other.wide, LABEL_HEIGHT)).length;
      const covered = nodes.filter((other) =>
        meet(at, bend.wide, other, 2 * node, (LABEL_HEIGHT + 2 * node) / 2),
      ).length;
      return (nodes.length + 1) * labels + covered;
    };
    const places = LABEL_PLACES.map((share) => along(bend, share));
    const least = Math.min(...places.map(cost));
    labelBoxes.push({ at: places.find((at) => cost(at) === least) ?? bend.middle, wide: bend.wide });
  }
  return labelBoxes.map(({ at }) => at);
}

/**
 * Whether two boxes overlap, given their centres and widths. Vertically, their centres must be more than `tall` apart.
 */
function meet(a: Point, wideA: number, b: Point, wideB: number, tall: number): boolean {
  return Math.abs(a.x - b.x) < (wideA + wideB) / 2 + 2 && Math.abs(a.y - b.y) < tall + 2;
}

/** The point of a quadratic Bézier curve at parameter `share`. */
function along({ from, middle, to }: CurvedEdge, share: number): Point {
  const mix = (a: number, b: number, c: number) => (1 - share) ** 2 * a + 2 * share * (1 - share) * b + share ** 2 * c;
  return { x: mix(from.x, middle.x, to.x), y: mix(from.y, middle.y, to.y) };
}

/** Width and height of the drawing, without its margins. */
const SIZE = 320;
const CENTRE = SIZE / 2;
/** Average width of a character in the label of a search. */
const LABEL_CHAR_WIDTH = 5.7;
/** Average width of a character of a name beside its node. */
const NAME_CHAR_WIDTH = 6.4;

/** Largest number of characters of a name that fits into its node. */
const MAX_INSIDE_CHARS = 6;
/** The layout with names inside their nodes. */
const NAMES_INSIDE = { rx: 118, ry: 118, node: 14, margin: 0 } as const;
/** The layout with names beside their nodes. The nodes are smaller, and there is more space on the left and right. */
const NAMES_BESIDE = { rx: 84, ry: 128, node: 6, margin: 24 } as const;

/** A place in the drawing. */
interface Point {
  readonly x: number;
  readonly y: number;
}

interface NameProps {
  readonly name: string;
  readonly at: Point;
  readonly layout: typeof NAMES_INSIDE | typeof NAMES_BESIDE;
}

/**
 * The name of an entity, in its node or on the outer side of it, shortened if it doesn't fit. The node's title has the
 * full name.
 */
function Name({ name, at, layout: { node, margin } }: NameProps) {
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
        {shortened(name, SIZE / 2 / NAME_CHAR_WIDTH)}
      </text>
    );
  }
  const freeWidth = SIZE / 2 + margin - Math.abs(away) - node - 6;
  return (
    <text x={at.x + Math.sign(away) * (node + 6)} y={at.y + 4} textAnchor={away > 0 ? 'start' : 'end'}>
      {shortened(name, freeWidth / NAME_CHAR_WIDTH)}
    </text>
  );
}

/** A text shortened to at most `most` characters; an ellipsis counts as one. */
function shortened(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 2 * Math.floor(Math.max(0, most)) + 2));
  return characters.length <= most ? text : `${characters.slice(0, Math.floor(most) - 1).join('')}…`;
}

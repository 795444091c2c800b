import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'graph' }>;
const LOOP_HEIGHT = 26; // of the edge for a fact from an entity to itself
const MAX_RELATION_CHARS = 18; // longer names of relations are shortened

/** Entities on a ring, all facts in a faint colour, the gold path dashed, and searches highlighted with their turn. */
export function Graph({ view, turn }: { readonly view: View; readonly turn: number }) {
  const layout = view.entities.every((name) => name.length <= MAX_INSIDE_CHARS) ? NAMES_INSIDE : NAMES_BESIDE;
  const { rx, ry, nodeRadius, margin } = layout;
  const position = (entity: number): Point => {
    const angle = (2 * Math.PI * entity) / view.entities.length - Math.PI / 2;
    return { x: CENTRE + rx * Math.cos(angle), y: CENTRE + ry * Math.sin(angle) };
  };
  const entityName = (entity: number | null) => (entity === null ? 'nothing' : (view.entities[entity] ?? '?'));
  const searchText = view.searched
    .map((s) => `turn ${s.turn}: ${entityName(s.entity)} ${view.relations[s.relation] ?? ''} gives ${entityName(s.to)}`)
    .join('; ');
  const nodes = view.entities.map((_, i) => position(i));
  const searchCurves = view.searched.map((search) => searchCurve(search, view, position));
  const labels = labelPlaces(searchCurves, nodes, nodeRadius);
  const searches = view.searched.map((search, i) => ({
    ...{ search, view, curve: searchCurves[i]!, label: labels[i]! },
    ...{ isCurrent: search.turn === turn, isLater: turn > 0 && search.turn > turn },
  }));
  const label = `Graph of ${view.entities.length} entities. The answer is ${entityName(view.answer)}, given: ${entityName(view.given)}. ${searchText}`;
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
              <path
                key={`${relation}-${entity}`}
                className="fact"
                d={edgePath(position(entity), position(to), relation, nodeRadius)}
              />
            ),
        ),
      )}
      {view.gold.map(({ entity, relation, to }, hop) => (
        <path key={`gold-${hop}`} className="gold" d={edgePath(position(entity), position(to), relation, nodeRadius)} />
      ))}
      {searches.map((search) => (
        <Search key={search.search.turn} {...search} nodeRadius={nodeRadius} />
      ))}
      {searches.map((search) => (
        <SearchLabel key={search.search.turn} {...search} />
      ))}
      {view.entities.map((entity, i) => (
        <g key={entity} className="entity" data-start={view.gold[0]?.entity === i} data-given={view.given === i}>
          <title>{entity}</title>
          {view.answer === i && (
            <circle className="answer-ring" cx={position(i).x} cy={position(i).y} r={nodeRadius + 4} />
          )}
          <circle cx={position(i).x} cy={position(i).y} r={nodeRadius} />
          <Name name={entity} centre={position(i)} layout={layout} />
        </g>
      ))}
    </svg>
  );
}

interface SearchProps {
  readonly search: View['searched'][number];
  readonly curve: SearchCurve;
  readonly label: Point;
  readonly nodeRadius: number;
  readonly view: View;
  readonly isCurrent: boolean;
  readonly isLater: boolean;
}

/** The curve of a search. A search that found nothing has a curve that ends half way to the centre. */
function searchCurve(search: View['searched'][number], view: View, position: (entity: number) => Point): SearchCurve {
  const from = position(search.entity);
  const to = search.to === null ? { x: (from.x + CENTRE) / 2, y: (from.y + CENTRE) / 2 } : position(search.to);
  const labelWidth = 14 + LABEL_CHAR_WIDTH * searchLabel(search, view).length;
  // the label of a loop is moved towards the centre, so that it doesn't cover the node
  const loop = search.to === search.entity;
  const inwards = { x: from.x + (CENTRE - from.x) * 0.9, y: from.y + (CENTRE - from.y) * 0.9 };
  return { from, middle: loop ? inwards : controlPoint(from, to, search.relation), to, labelWidth };
}

function searchLabel(search: View['searched'][number], view: View): string {
  const relation = view.relations[search.relation] ?? '';
  return `${search.turn} · ${search.to === null ? 'none' : shortened(relation, MAX_RELATION_CHARS)}`;
}

function Search({ search, curve: { from, to }, nodeRadius, view, isCurrent, isLater }: Omit<SearchProps, 'label'>) {
  return (
    <g className="search" data-now={isCurrent} data-later={isLater} data-failed={search.to === null}>
      <title>{view.relations[search.relation] ?? ''}</title>
      <path d={edgePath(from, to, search.relation, nodeRadius)} />
    </g>
  );
}

/** The label of a search. Labels are painted after all curves, so that no curve crosses them. */
function SearchLabel({
  search,
  curve: { labelWidth },
  label,
  view,
  isCurrent,
  isLater,
}: Omit<SearchProps, 'nodeRadius'>) {
  return (
    <g
      className="search-label search"
      data-now={isCurrent}
      data-later={isLater}
      transform={`translate(${label.x} ${label.y})`}
    >
      <title>{view.relations[search.relation] ?? ''}</title>
      <rect x={-labelWidth / 2} y={-LABEL_HEIGHT / 2} width={labelWidth} height={LABEL_HEIGHT} rx={9} />
      <text y={4} textAnchor="middle">
        {searchLabel(search, view)}
      </text>
    </g>
  );
}

/** Edges bend towards the centre, by a different amount for each relation, so that parallel facts stay apart. */
function controlPoint(a: Point, b: Point, relation: number): Point {
  const pull = 0.25 + 0.22 * relation;
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  return { x: middle.x + (CENTRE - middle.x) * pull, y: middle.y + (CENTRE - middle.y) * pull };
}

function edgePath(a: Point, b: Point, relation: number, nodeRadius: number): string {
  if (a.x === b.x && a.y === b.y) {
    const outwards = 1 + (nodeRadius + LOOP_HEIGHT + 6 * relation) / NAMES_INSIDE.rx;
    const [x, y] = [CENTRE + (a.x - CENTRE) * outwards, CENTRE + (a.y - CENTRE) * outwards];
    const [sx, sy] = [(a.y - CENTRE) * 0.18, (CENTRE - a.x) * 0.18];
    return `M${a.x} ${a.y}C${x + sx} ${y + sy} ${x - sx} ${y - sy} ${a.x} ${a.y}`;
  }
  const c = controlPoint(a, b, relation);
  return `M${a.x} ${a.y}Q${c.x} ${c.y} ${b.x} ${b.y}`;
}

/** The curve that shows a search: a quadratic Bézier curve with a label. */
export interface SearchCurve {
  readonly from: Point;
  readonly middle: Point; // the control point
  readonly to: Point;
  readonly labelWidth: number; // width of the label
}

const LABEL_HEIGHT = 18;
/** The places on its curve where a label may be, as curve parameters; the first free one is used. */
const LABEL_PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/** The places of the labels. They are chosen so that labels don't cover each other and, if possible, don't cover nodes. */
export function labelPlaces(
  searchCurves: readonly SearchCurve[],
  nodes: readonly Point[],
  nodeRadius: number,
): readonly Point[] {
  const labelBoxes: { readonly centre: Point; readonly wide: number }[] = [];
  for (const curve of searchCurves) {
    const cost = (at: Point) => {
      const labels = labelBoxes.filter((other) =>
        boxesOverlap(at, curve.labelWidth, other.centre, other.wide, LABEL_HEIGHT),
      ).length;
      const covered = nodes.filter((other) =>
        boxesOverlap(at, curve.labelWidth, other, 2 * nodeRadius, (LABEL_HEIGHT + 2 * nodeRadius) / 2),
      ).length;
      return (nodes.length + 1) * labels + covered;
    };
    const places = LABEL_PLACES.map((share) => pointOnCurve(curve, share));
    const least = Math.min(...places.map(cost));
    labelBoxes.push({ centre: places.find((at) => cost(at) === least) ?? curve.middle, wide: curve.labelWidth });
  }
  return labelBoxes.map(({ centre }) => centre);
}

/**
 * Whether two boxes overlap or nearly touch, given their centres and widths. They don't if there are at least 2 units
 * between them sideways, or if their centres are at least `minDistance` + 2 apart vertically.
 */
function boxesOverlap(a: Point, widthA: number, b: Point, widthB: number, minDistance: number): boolean {
  return Math.abs(a.x - b.x) < (widthA + widthB) / 2 + 2 && Math.abs(a.y - b.y) < minDistance + 2;
}

function pointOnCurve({ from, middle, to }: SearchCurve, share: number): Point {
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

const MAX_INSIDE_CHARS = 6;
const NAMES_INSIDE = { rx: 118, ry: 118, nodeRadius: 14, margin: 0 } as const;
/** The nodes are smaller, and there is more space on the left and right. */
const NAMES_BESIDE = { rx: 84, ry: 128, nodeRadius: 6, margin: 24 } as const;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface NameProps {
  readonly name: string;
  readonly centre: Point;
  readonly layout: typeof NAMES_INSIDE | typeof NAMES_BESIDE;
}

/** The name is in its node or on the outer side of it, shortened if it doesn't fit. The node's title has the full name. */
function Name({ name, centre, layout: { nodeRadius, margin } }: NameProps) {
  const fromCentre = centre.x - CENTRE;
  if (margin === 0) {
    return (
      <text x={centre.x} y={centre.y + 4} textAnchor="middle">
        {name}
      </text>
    );
  }
  if (Math.abs(fromCentre) < 1) {
    return (
      <text x={centre.x} y={centre.y + (centre.y < CENTRE ? -nodeRadius - 8 : nodeRadius + 16)} textAnchor="middle">
        {shortened(name, SIZE / 2 / NAME_CHAR_WIDTH)}
      </text>
    );
  }
  const freeWidth = SIZE / 2 + margin - Math.abs(fromCentre) - nodeRadius - 6;
  return (
    <text
      x={centre.x + Math.sign(fromCentre) * (nodeRadius + 6)}
      y={centre.y + 4}
      textAnchor={fromCentre > 0 ? 'start' : 'end'}
    >
      {shortened(name, freeWidth / NAME_CHAR_WIDTH)}
    </text>
  );
}

/** A text shortened to at most `maxCharacters` characters; an ellipsis counts as one. */
function shortened(text: string, maxCharacters: number): string {
  const characters = Array.from(text.slice(0, 2 * Math.floor(Math.max(0, maxCharacters)) + 2));
  return characters.length <= maxCharacters ? text : `${characters.slice(0, Math.floor(maxCharacters) - 1).join('')}…`;
}

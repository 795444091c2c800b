import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'graph' }>;
const LOOP = 26;
const LONGEST = 18; // letters of a relation

/** A search over a graph: entities on a ring, every fact faint, the gold path dashed, searches lit with their turn. */
export function Graph({ view, turn }: { readonly view: View; readonly turn: number }) {
  const layout = view.entities.every((name) => name.length <= SHORT) ? NAMES_INSIDE : NAMES_BESIDE;
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

/** The course of a search; one that found nothing ends half way to the middle. */
function bendOf(search: View['searched'][number], view: View, at: (entity: number) => Point): CurvedEdge {
  const from = at(search.entity);
  const to = search.to === null ? { x: (from.x + CENTRE) / 2, y: (from.y + CENTRE) / 2 } : at(search.to);
  const wide = 14 + LETTER * said(search, view).length;
  // of a fact about itself the label stands towards the middle, off its node
  const loop = search.to === search.entity;
  const inwards = { x: from.x + (CENTRE - from.x) * 0.9, y: from.y + (CENTRE - from.y) * 0.9 };
  return { from, middle: loop ? inwards : control(from, to, search.relation), to, wide };
}

/** What stands on a search: its turn, and what was looked up. */
function said(search: View['searched'][number], view: View): string {
  const relation = view.relations[search.relation] ?? '';
  return `${search.turn} · ${search.to === null ? 'none' : shortened(relation, LONGEST)}`;
}

function Search({ search, bend: { from, to }, node, view, now, later }: Omit<SearchProps, 'label'>) {
  return (
    <g className="search" data-now={now} data-later={later} data-failed={search.to === null}>
      <title>{view.relations[search.relation] ?? ''}</title>
      <path d={edge(from, to, search.relation, node)} />
    </g>
  );
}

/** Above all courses, so that none crosses it out. */
function Label({ search, bend: { wide }, label, view, now, later }: Omit<SearchProps, 'node'>) {
  return (
    <g className="search-label search" data-now={now} data-later={later} transform={`translate(${label.x} ${label.y})`}>
      <title>{view.relations[search.relation] ?? ''}</title>
      <rect x={-wide / 2} y={-TALL / 2} width={wide} height={TALL} rx={9} />
      <text y={4} textAnchor="middle">
        {said(search, view)}
      </text>
    </g>
  );
}

/** Edges bend towards the middle, each relation by its own amount, so that parallel facts stay apart. */
function control(a: Point, b: Point, relation: number): Point {
  const pull = 0.25 + 0.22 * relation;
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  return { x: middle.x + (CENTRE - middle.x) * pull, y: middle.y + (CENTRE - middle.y) * pull };
}

function edge(a: Point, b: Point, relation: number, node: number): string {
  if (a.x === b.x && a.y === b.y) {
    const away = 1 + (node + LOOP + 6 * relation) / NAMES_INSIDE.rx;
    const [x, y] = [CENTRE + (a.x - CENTRE) * away, CENTRE + (a.y - CENTRE) * away];
    const [sx, sy] = [(a.y - CENTRE) * 0.18, (CENTRE - a.x) * 0.18];
    return `M${a.x} ${a.y}C${x + sx} ${y + sy} ${x - sx} ${y - sy} ${a.x} ${a.y}`;
  }
  const c = control(a, b, relation);
  return `M${a.x} ${a.y}Q${c.x} ${c.y} ${b.x} ${b.y}`;
}

/** A search as it is drawn: a quadratic curve with a label of a width. */
export interface CurvedEdge {
  readonly from: Point;
  readonly middle: Point; // its control point
  readonly to: Point;
  readonly wide: number; // of the label
}

/** Height of a label. */
const TALL = 18;
/** Where along its curve a label may stand: at its half if that is free. */
const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/** Where labels stand so that none covers another, nor a node where that can be helped. */
export function labelPlaces(bends: readonly CurvedEdge[], nodes: readonly Point[], node: number): readonly Point[] {
  const labelBoxes: { readonly at: Point; readonly wide: number }[] = [];
  for (const bend of bends) {
    const cost = (at: Point) => {
      const labels = labelBoxes.filter((other) => meet(at, bend.wide, other.at, other.wide, TALL)).length;
      const covered = nodes.filter((other) => meet(at, bend.wide, other, 2 * node, (TALL + 2 * node) / 2)).length;
      return (nodes.length + 1) * labels + covered;
    };
    const places = PLACES.map((share) => along(bend, share));
    const least = Math.min(...places.map(cost));
    labelBoxes.push({ at: places.find((at) => cost(at) === least) ?? bend.middle, wide: bend.wide });
  }
  return labelBoxes.map(({ at }) => at);
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

/** Side of the drawing. */
const SIZE = 320;
const CENTRE = SIZE / 2;
/** Width of a letter of a relation's label. */
const LETTER = 5.7;
const WIDE = 6.4; // of a name beside its node

/** Letters of a name that fits into its node. */
const SHORT = 6;
/** Names in their nodes. */
const NAMES_INSIDE = { rx: 118, ry: 118, node: 14, margin: 0 } as const;
/** Names beside their nodes, which are small and leave room to the left and right. */
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

/** A name in its node or on the outer side of it, as much of it as fits; the whole of it is the node's title. */
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
function shortened(text: string, most: number): string {
  const letters = Array.from(text.slice(0, 2 * Math.floor(Math.max(0, most)) + 2));
  return letters.length <= most ? text : `${letters.slice(0, Math.floor(most) - 1).join('')}…`;
}

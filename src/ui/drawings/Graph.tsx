import type { EnvView } from '../../domain/envView.ts';
import { BESIDE, CENTRE, INSIDE, LETTER, Name, type Point, SHORT, shortened, SIZE } from './GraphName.tsx';

type View = Extract<EnvView, { kind: 'graph' }>;
const LOOP = 26;
const LONGEST = 18; // letters of a relation

/** A search over a graph: entities on a ring, every fact faint, the gold path dashed, searches lit with their turn. */
export function Graph({ view, turn }: { readonly view: View; readonly turn: number }) {
  const layout = view.entities.every((name) => name.length <= SHORT) ? INSIDE : BESIDE;
  const { rx, ry, node, margin } = layout;
  const at = (entity: number): Point => {
    const angle = (2 * Math.PI * entity) / view.entities.length - Math.PI / 2;
    return { x: CENTRE + rx * Math.cos(angle), y: CENTRE + ry * Math.sin(angle) };
  };
  const name = (entity: number | null) => (entity === null ? 'nothing' : (view.entities[entity] ?? '?'));
  const told = view.searched
    .map((s) => `turn ${s.turn}: ${name(s.entity)} ${view.relations[s.relation] ?? ''} gives ${name(s.to)}`)
    .join('; ');
  const label = `Graph of ${view.entities.length} entities. The answer is ${name(view.answer)}, given: ${name(view.given)}. ${told}`;
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
      {view.searched.map((search) => (
        <Search
          key={search.turn}
          search={search}
          at={at}
          node={node}
          view={view}
          now={search.turn === turn}
          later={turn > 0 && search.turn > turn}
        />
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
  readonly at: (entity: number) => Point;
  readonly node: number;
  readonly view: View;
  readonly now: boolean;
  readonly later: boolean;
}

function Search({ search, at, node, view, now, later }: SearchProps) {
  const from = at(search.entity);
  const failed = search.to === null;
  const to = failed ? { x: (from.x + CENTRE) / 2, y: (from.y + CENTRE) / 2 } : at(search.to);
  const middle = control(from, to, search.relation);
  // the point of a quadratic curve at its half
  const label = { x: (from.x + 2 * middle.x + to.x) / 4, y: (from.y + 2 * middle.y + to.y) / 4 };
  const relation = view.relations[search.relation] ?? '';
  const text = `${search.turn} · ${failed ? 'none' : shortened(relation, LONGEST)}`;
  const wide = 14 + LETTER * text.length;
  return (
    <g className="search" data-now={now} data-later={later} data-failed={failed}>
      <title>{relation}</title>
      <path d={edge(from, to, search.relation, node)} />
      <g transform={`translate(${label.x} ${label.y})`}>
        <rect x={-wide / 2} y={-9} width={wide} height={18} rx={9} />
        <text y={4} textAnchor="middle">
          {text}
        </text>
      </g>
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
    const away = 1 + (node + LOOP + 6 * relation) / INSIDE.rx;
    const [x, y] = [CENTRE + (a.x - CENTRE) * away, CENTRE + (a.y - CENTRE) * away];
    const [sx, sy] = [(a.y - CENTRE) * 0.18, (CENTRE - a.x) * 0.18];
    return `M${a.x} ${a.y}C${x + sx} ${y + sy} ${x - sx} ${y - sy} ${a.x} ${a.y}`;
  }
  const c = control(a, b, relation);
  return `M${a.x} ${a.y}Q${c.x} ${c.y} ${b.x} ${b.y}`;
}

import type { Scene } from './scene.ts';

const CENTRE = { x: 66, y: 44 };
const RADIUS = { x: 52, y: 36 };

/** Entities on a ring, every fact faint, and the path that was looked up. */
export function GraphScene({ scene: { nodes, facts, path } }: { readonly scene: Extract<Scene, { kind: 'graph' }> }) {
  const at = (node: number) => {
    const angle = (2 * Math.PI * node) / nodes - Math.PI / 2;
    return { x: CENTRE.x + RADIUS.x * Math.cos(angle), y: CENTRE.y + RADIUS.y * Math.sin(angle) };
  };
  // bent towards the middle, so that the ring stays empty
  const edge = (from: number, to: number) => {
    const [a, b] = [at(from), at(to)];
    const bent = { x: (a.x + b.x + CENTRE.x) / 3, y: (a.y + b.y + CENTRE.y) / 3 };
    return `M${a.x.toFixed(1)} ${a.y.toFixed(1)}Q${bent.x.toFixed(1)} ${bent.y.toFixed(1)} ${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
  };
  return (
    <>
      <path className="fact" d={facts.map(([from, to]) => edge(from, to)).join('')} />
      <path
        className="act"
        d={path
          .slice(1)
          .map((to, i) => edge(path[i] ?? to, to))
          .join('')}
      />
      {Array.from({ length: nodes }, (_, node) => {
        const { x, y } = at(node);
        const end = path.at(-1) === node;
        return <circle key={node} className={end ? 'done' : path.includes(node) ? 'act' : 'thing'} cx={x} cy={y} r={end ? 6 : 4.5} />; // prettier-ignore
      })}
    </>
  );
}

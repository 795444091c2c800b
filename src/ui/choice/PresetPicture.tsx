import { ENVIRONMENTS, YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { PRESET_CARDS, type PresetGroup } from '../../config/presetCards.ts';
import { presetConfig } from '../../page/knobs/configStore.ts';
import type { PresetName } from '../../config/presets.ts';
import { type Scene, SCENES } from '../../page/stage/scenes.ts';

// of every drawing, in SVG units
const WIDTH = 132;
const HEIGHT = 88;
const MARGIN = 16; // left and right, for marks

/** SVG path of the mark in the corner of a group's pictures: a warning, two boxes side by side. */
const GROUP_MARKS: Partial<Record<PresetGroup, string>> = {
  failures: 'M136 6 145 22H127ZM136 11.5v5M136 19v.1',
  comparisons: 'M127 7h7v14h-7zM138 7h7v14h-7z',
};

/**
 * A small picture of a preset's task. The environment is grey, what the agent does has the colour of calls, its goal
 * the accent colour. Chats have a frame, presets that train adapters have three bars, failures and comparisons have a
 * mark.
 */
export function PresetPicture({ preset }: { readonly preset: PresetName }) {
  const { env, language, model } = presetConfig(preset);
  const { group } = PRESET_CARDS[preset];
  const mark = GROUP_MARKS[group];
  const chat = language === 'text' && ENVIRONMENTS[env].text;
  return (
    <svg className="scene" viewBox={`${-MARGIN} 0 ${WIDTH + 2 * MARGIN} ${HEIGHT}`} aria-hidden="true">
      {chat && (
        <path
          className="frame"
          d={`M8 2H124a6 6 0 0 1 6 6V74a6 6 0 0 1-6 6H24l-10 7v-7H8a6 6 0 0 1-6-6V8a6 6 0 0 1 6-6Z`}
        />
      )}
      <g transform={chat ? 'translate(13 7) scale(.8)' : undefined}>
        {env !== YOUR_ENVIRONMENT && <SceneDrawing scene={SCENES[env]} />}
      </g>
      {mark && <path className="mark-of" data-group={group} d={mark} />}
      {model === 'checkpoint' && <path className="adapters" d="M112 64v12M117 69v7M122 60v16" />}
    </svg>
  );
}

function SceneDrawing({ scene }: { readonly scene: Scene }) {
  switch (scene.kind) {
    case 'line':
      return <NumberLine scene={scene} />;
    case 'graph':
      return <GraphScene scene={scene} />;
    case 'board':
      return <BoardScene scene={scene} />;
    case 'sum':
      return <Sum scene={scene} />;
    case 'arms':
      return <Arms scene={scene} />;
    case 'passages':
      return <Passages scene={scene} />;
    default:
      return scene satisfies never;
  }
}

interface SceneProps<K extends Scene['kind']> {
  readonly scene: Extract<Scene, { kind: K }>;
}

function NumberLine({ scene: { range, target, guesses } }: SceneProps<'line'>) {
  const x = (value: number) => 6 + ((value + 0.5) * (WIDTH - 12)) / range;
  const row = 18;
  const rows = guesses.map((guess, i) => {
    const before = guesses.slice(0, i);
    const low = Math.max(0, ...before.filter((each) => each < target).map((each) => each + 1));
    const high = Math.min(range - 1, ...before.filter((each) => each > target).map((each) => each - 1));
    return { guess, low, high };
  });
  return (
    <>
      <path className="wanted" d={`M${x(target)} 4V84`} />
      {rows.map(({ guess, ...possible }, i) => (
        <g key={i} transform={`translate(0 ${10 + i * row})`}>
          <rect
            className="room"
            x={x(possible.low - 0.5)}
            width={x(possible.high + 0.5) - x(possible.low - 0.5)}
            height={row - 6}
            rx={3}
          />
          <circle className={guess === target ? 'done' : 'act'} cx={x(guess)} cy={(row - 6) / 2} r={4.5} />
        </g>
      ))}
    </>
  );
}

function Sum({ scene: { task, wanted, steps } }: SceneProps<'sum'>) {
  const lines = steps.filter((step) => !step.startsWith('answer'));
  return (
    <g className="sum">
      <text x={WIDTH / 2} y={24}>
        {lines.length > 1 ? task : `${task} → ${wanted}`}
      </text>
      <path className="rule" d={`M16 34H${WIDTH - 16}`} />
      {lines.map((step, i) => {
        const [operation = '', result = ''] = step.split(' = ');
        return (
          <text key={i} x={WIDTH / 2} y={52 + 20 * i}>
            <tspan className="made">{operation} = </tspan>
            <tspan className="result">{result}</tspan>
          </text>
        );
      })}
    </g>
  );
}

/** What each arm pays in twelve pulls. The risky arm wins in exactly a quarter of them. */
function Arms({ scene: { arms, risky } }: SceneProps<'arms'>) {
  const pulls = Array.from({ length: 12 }, (_, i) => i);
  return (
    <>
      {arms.map((name, arm) => (
        <g key={name} transform={`translate(${6 + 64 * arm} 0)`}>
          <text className="name" x={28} y={84}>
            {name}
          </text>
          <path className="rule" d="M0 70H56" />
          {pulls.map((i) => {
            const payout = arm === risky ? (i % 4 === 1 ? 1 : 0) : 0.1;
            return <rect key={i} className={payout === 1 ? 'win' : 'pay'} x={2 + 4.4 * i} y={69 - 56 * payout} width={3} height={Math.max(1, 56 * payout)} />; // prettier-ignore
          })}
        </g>
      ))}
    </>
  );
}

/** Passages as lines of text: words of the query shaded, the answer boxed. */
function Passages({ scene: { passages } }: SceneProps<'passages'>) {
  const [lines, width] = [3, 100];
  return (
    <>
      {passages.slice(0, 2).map(({ marks, answer }, i) => (
        <g key={i} transform={`translate(${10 + 6 * i} ${6 + 40 * i})`}>
          <rect className="page" width={width + 10} height={34} rx={4} />
          {[
            ...lineSegments([[0, 0.96]], 'words'),
            ...lineSegments(marks, 'mark'),
            ...lineSegments(answer ? [answer] : [], 'answer'),
          ].map(({ line, from, to, className }) => (
            <path
              key={`${className} ${line} ${from}`}
              className={className}
              d={`M${5 + from * width} ${8 + 9 * line}H${5 + to * width}`}
            />
          ))}
        </g>
      ))}
    </>
  );

  function lineSegments(spans: readonly (readonly [number, number])[], className: string) {
    return spans.flatMap(([from, to]) =>
      Array.from({ length: lines }, (_, line) => {
        const [a, b] = [Math.max(0, from * lines - line), Math.min(1, to * lines - line)];
        return { line, from: a, to: b, className };
      }).filter((piece) => piece.to > piece.from),
    );
  }
}

const CELL_SIZE = 20;
const BOARD_LEFT = 26;
const BOARD_TOP = 4;
const CELL_CLASSES: Readonly<Record<string, string>> = { '.': 'floor', '#': 'wall', o: 'hole', '*': 'goal' };

function BoardScene({ scene: { size, cells, walk, box } }: { readonly scene: Extract<Scene, { kind: 'board' }> }) {
  const x = (cell: number) => BOARD_LEFT + CELL_SIZE * (cell % size);
  const y = (cell: number) => BOARD_TOP + CELL_SIZE * Math.floor(cell / size);
  const middle = (cell: number) => `${x(cell) + CELL_SIZE / 2} ${y(cell) + CELL_SIZE / 2}`;
  const last = walk.at(-1) ?? 0;
  return (
    <>
      {Array.from(cells, (cell, i) => (
        <rect
          key={i}
          className={CELL_CLASSES[cell]}
          x={x(i) + 1}
          y={y(i) + 1}
          width={CELL_SIZE - 2}
          height={CELL_SIZE - 2}
          rx={3}
        />
      ))}
      <path className="act" d={`M${walk.map(middle).join('L')}`} />
      {box !== null && (
        <rect className="box" x={x(box) + 5} y={y(box) + 5} width={CELL_SIZE - 10} height={CELL_SIZE - 10} rx={2} />
      )}
      <circle className="act" cx={x(walk[0] ?? 0) + CELL_SIZE / 2} cy={y(walk[0] ?? 0) + CELL_SIZE / 2} r={3} />
      <circle className="done" cx={x(last) + CELL_SIZE / 2} cy={y(last) + CELL_SIZE / 2} r={4.5} />
    </>
  );
}

const CENTRE = { x: 66, y: 44 };
const RADIUS = { x: 52, y: 36 };

function GraphScene({ scene: { nodes, facts, path } }: { readonly scene: Extract<Scene, { kind: 'graph' }> }) {
  const position = (node: number) => {
    const angle = (2 * Math.PI * node) / nodes - Math.PI / 2;
    return { x: CENTRE.x + RADIUS.x * Math.cos(angle), y: CENTRE.y + RADIUS.y * Math.sin(angle) };
  };
  // bent towards the middle, so that the ring stays empty
  const edge = (from: number, to: number) => {
    const [a, b] = [position(from), position(to)];
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
        const { x, y } = position(node);
        const end = path.at(-1) === node;
        return <circle key={node} className={end ? 'done' : path.includes(node) ? 'act' : 'thing'} cx={x} cy={y} r={end ? 6 : 4.5} />; // prettier-ignore
      })}
    </>
  );
}

import { lazy, Suspense } from 'react';
import type { EnvView } from '../../protocol.ts';
import { turnInView, useCurrent } from '../current.ts';
import { short } from '../format.ts';
import { STOPS } from '../kinds.ts';
import { useSelection } from '../selection-store.ts';
import { Icon } from './Icon.tsx';
import { NumberLine } from './NumberLine.tsx';
import { RewardSplit } from './RewardSplit.tsx';

const Graph = lazy(() => import('./Graph.tsx').then((m) => ({ default: m.Graph })));

const Ledger = lazy(() => import('./Ledger.tsx').then((m) => ({ default: m.Ledger })));
const Passages = lazy(() => import('./Passages.tsx').then((m) => ({ default: m.Passages })));
const Grid = lazy(() => import('./Grid.tsx').then((m) => ({ default: m.Grid })));

const TITLES = { 'number-line': 'Number hunt' } as const;
const LEGENDS: Readonly<Record<EnvView['kind'], string>> = {
  'number-line': 'The band is what is still possible. The agent does not see the dashed line.',
  graph: 'Dashed: the path asked for. Lit: what the agent looked up. Ring: the answer.',
  grid: 'Shade: where the rollouts of this task went. ✕: a move that did not go as told.',
  sum: 'From left to right. The agent does not see what is wanted unless the task says it.',
  passages: 'Shaded: words of the query. Boxed: the answer. The agent reads no mark, and nothing struck out.',
  bandit: 'Which arm is risky, only its name tells the agent.',
};

/** The environment as it stands at the turn in view; shares its turn with the trajectory. */
export function EnvPanel() {
  const current = useCurrent();
  const chosen = useSelection((s) => s.turn);
  const view = current.episode?.view;
  if (!view) return null;
  const { turns, reward, toolCalls, invalidTurns, stop } = current.episode;
  const turn = Math.min(turnInView(current, chosen), turns);
  const group = current.batch.episodes.filter((other) => other.group === current.episode?.group).map((e) => e.view);
  const go = (to: number) => useSelection.setState({ turn: Math.min(turns, Math.max(1, to)), token: null });
  return (
    <section className="env panel" aria-label="Environment" data-testid="environment">
      <div className="panel-head">
        <h2>{'title' in view ? view.title : TITLES[view.kind]}</h2>
        <span className="turn-nav">
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Previous turn"
            disabled={turn <= 1}
            onClick={() => go(turn - 1)}
          >
            <Icon name="left" />
          </button>
          turn {turn}/{turns}
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Next turn"
            disabled={turn >= turns}
            onClick={() => go(turn + 1)}
          >
            <Icon name="right" />
          </button>
        </span>
      </div>
      <div className="env-body">
        <Suspense>
          <Drawing view={view} turn={turn} group={group} />
        </Suspense>
      </div>
      <dl className="outcome">
        <Fact label="reward" value={short(reward)} />
        <Fact label="tool calls" value={String(toolCalls)} />
        <Fact label="malformed" value={String(invalidTurns)} />
        <Fact label="ended" value={STOPS[stop]} />
      </dl>
      <RewardSplit episode={current.episode} />
      <p className="env-legend faint">{LEGENDS[view.kind]}</p>
    </section>
  );
}

interface DrawingProps {
  readonly view: EnvView;
  readonly turn: number;
  readonly group: readonly EnvView[];
}

/** An environment's own picture after a turn. */
export function Drawing({ view, turn, group }: DrawingProps) {
  switch (view.kind) {
    case 'number-line':
      return <NumberLine view={view} turn={turn} />;
    case 'graph':
      return <Graph view={view} turn={turn} />;
    case 'grid':
      return <Grid view={view} turn={turn} group={group} />;
    case 'passages':
      return <Passages view={view} turn={turn} />;
    case 'sum':
    case 'bandit':
      return <Ledger view={view} turn={turn} />;
    default:
      return view satisfies never;
  }
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

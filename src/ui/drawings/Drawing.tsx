import { lazy, Suspense } from 'react';
import type { EnvView } from '../../domain/envView.ts';

const NumberLine = lazy(() => import('./NumberLine.tsx').then((m) => ({ default: m.NumberLine })));
const Graph = lazy(() => import('./Graph.tsx').then((m) => ({ default: m.Graph })));
const TextDrawing = lazy(() => import('./TextDrawing.tsx').then((m) => ({ default: m.TextDrawing })));
const Passages = lazy(() => import('./Passages.tsx').then((m) => ({ default: m.Passages })));
const Calls = lazy(() => import('./Calls.tsx').then((m) => ({ default: m.Calls })));
const Grid = lazy(() => import('./Grid.tsx').then((m) => ({ default: m.Grid })));

export const LEGENDS: Readonly<Record<EnvView['kind'], string>> = {
  'number-line': 'Bar: numbers still possible. Dashed: the hidden number, unseen by the agent.',
  graph: 'Dashed: the path in question. Lit: what the agent looked up. Ring: the answer.',
  grid: 'Shade: where the rollouts of this task went. ✕: the move didn’t do what the agent asked.',
  sum: 'Computed from left to right. The agent sees the target only if the task states it.',
  calls: 'What the agent called, what came back and, at the end, what the environment paid.',
  passages: 'Shaded: words of the query. Boxed: the answer. The agent sees no marks and no struck-out text.',
  bandit: 'The agent sees only the names of the arms, not which one is risky.',
};

/** Whether a kind is drawn as one SVG. The others are text in boxes. */
export const IS_SVG: Readonly<Record<EnvView['kind'], boolean>> = {
  'number-line': true,
  graph: true,
  grid: true,
  sum: false,
  calls: false,
  passages: false,
  bandit: false,
};

export const taskTitle = (view: EnvView): string => ('title' in view ? view.title : 'Number hunt');

interface Props {
  readonly view: EnvView;
  readonly turn: number;
  readonly group: readonly EnvView[]; // the views of all rollouts of the task
  readonly minRows?: number; // smallest number of turns to leave space for, as more turns may come
  readonly wide?: boolean; // there is more space beside the drawing than below it
  readonly hideSolution?: boolean; // hides everything that a person who plays shouldn't know
}

export function Drawing(props: Props) {
  return (
    <Suspense>
      <DrawingOfKind {...props} />
    </Suspense>
  );
}

function DrawingOfKind({ view, turn, group, minRows = 0, wide = false, hideSolution = false }: Props) {
  switch (view.kind) {
    case 'number-line':
      return <NumberLine {...{ view, turn, minRows, wide, hideSolution }} />;
    case 'graph':
      return <Graph view={view} turn={turn} />;
    case 'grid':
      return <Grid view={view} turn={turn} group={group} />;
    case 'passages':
      return <Passages view={view} turn={turn} />;
    case 'calls':
      return <Calls {...{ view, turn, hideSolution }} />;
    case 'sum':
    case 'bandit':
      return <TextDrawing {...{ view, turn, hideSolution }} />;
    default:
      return view satisfies never;
  }
}

import type { MetricName } from '../../domain/metrics.ts';
import { traceOf } from './traces.ts';

/** Where RAGEN-2's plane takes its points from: H(Z|X), the mutual information, and the most that this can be. */
interface PlaneSource {
  readonly label: string;
  readonly entropy: MetricName;
  readonly information: MetricName;
  readonly bound: { readonly metric: MetricName; readonly nats: (value: number) => number };
}

const FIRST_TURN_BOUND = {
  metric: 'collapse_first_turn_sample/mi_upper_bound',
  nats: (bound: number) => bound,
} as const;

export const PLANE_SOURCES = {
  all: {
    label: 'All turns, sampled',
    entropy: 'collapse/conditional_entropy_seq_est',
    information: 'collapse/mi_seq_estimate',
    bound: { metric: 'collapse/retrieval_chance_level', nats: (chance) => -Math.log(chance) },
  },
  exact: {
    label: 'First turn, exact',
    entropy: 'collapse_first_turn_exact/conditional_entropy_seq',
    information: 'collapse_first_turn_exact/mi_seq',
    bound: FIRST_TURN_BOUND,
  },
  sample: {
    label: 'First turn, sampled',
    entropy: 'collapse_first_turn_sample/conditional_entropy_seq_est',
    information: 'collapse_first_turn_sample/mi_seq_estimate',
    bound: FIRST_TURN_BOUND,
  },
} as const satisfies Record<string, PlaneSource>;
export type PlaneSourceName = keyof typeof PLANE_SOURCES;

export interface PlanePoint {
  readonly update: number;
  readonly entropy: number; // H(Z|X), nats
  readonly information: number; // nats
}

export interface InputPlane {
  readonly points: readonly PlanePoint[]; // by update
  readonly bound: number; // log N, nats; the largest of the run
}

/** The points of the run in view, at the updates that measured both. */
export function inputPlane(source: PlaneSourceName): InputPlane {
  const { entropy, information, bound } = PLANE_SOURCES[source];
  const [h, i, n] = [entropy, information, bound.metric].map((name) => traceOf(name, null));
  const entropies = new Map(Array.from(h!.x, (update, at) => [update, h!.y[at]!]));
  const points = Array.from(i!.x, (update, at) => ({
    update,
    entropy: entropies.get(update) ?? NaN,
    information: i!.y[at]!,
  })).filter((point) => !Number.isNaN(point.entropy));
  return { points, bound: Math.max(0, ...Array.from(n!.y, bound.nats)) };
}

/** RAGEN-2's four regimes, by H(Z|X) and mutual information, and what a run does that moves there. RAGEN-2 sets no thresholds. */
export const REGIMES = [
  { name: 'compressed', entropy: 'low', information: 'high', doc: 'less varied, depends more on the input' },
  { name: 'diverse', entropy: 'high', information: 'high', doc: 'more varied, depends more on the input' },
  { name: 'full collapse', entropy: 'low', information: 'low', doc: 'less varied, depends less on the input' },
  { name: 'template collapse', entropy: 'high', information: 'low', doc: 'more varied, depends less on the input' },
] as const;
export type Regime = (typeof REGIMES)[number];

/** A change by less than this share of its axis counts as none. */
const NO_CHANGE = 0.05;

/** The regime that the run has moved to between two points; null unless both numbers have changed. */
export function regimeAhead(from: PlanePoint, to: PlanePoint, plane: InputPlane): Regime | null {
  const axes = { entropy: Math.max(...plane.points.map(({ entropy }) => entropy)), information: plane.bound };
  const way = (name: 'entropy' | 'information') => {
    const change = to[name] - from[name];
    return Math.abs(change) < NO_CHANGE * axes[name] ? null : change > 0 ? 'high' : 'low';
  };
  const [entropy, information] = [way('entropy'), way('information')];
  return REGIMES.find((regime) => regime.entropy === entropy && regime.information === information) ?? null;
}

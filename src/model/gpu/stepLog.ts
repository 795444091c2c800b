import { STEP_STATS } from '../../gpu/kernels/stepStats.ts';
import type { StepStats } from '../policyReport.ts';
import { parameterAt, type ParameterLayout } from './networkTensors.ts';

/** What a step's log line lacks: the coefficients of the loss's parts, whether a separate critic took part, and counts of tokens. */
export interface StepNote {
  readonly entropyCoef: number;
  readonly klCoef: number;
  readonly observationLoss: number;
  readonly teacherCoef: number;
  readonly valueCoef: number; // 0 when a separate critic learns values
  readonly criticRan: boolean; // a separate critic's plans were submitted
  readonly counts: Pick<StepStats, 'computedTokens' | 'trainedTokens'>;
}

/** Reads the step's line in the device's log and, if a separate critic took part, the critic's line. */
export function stepStats(
  policy: Float32Array<ArrayBuffer>,
  layout: ParameterLayout,
  note: StepNote,
  critic: Float32Array<ArrayBuffer> | null,
  criticLayout: ParameterLayout | null,
): StepStats {
  const statOf = (line: Float32Array, stat: (typeof STEP_STATS)[number]) => line[STEP_STATS.indexOf(stat)]!;
  const norm = (line: Float32Array) => line[STEP_STATS.length]!;
  const health = (line: Float32Array<ArrayBuffer>, parameterLayout: ParameterLayout, prefix: string) => {
    const words = new Uint32Array(line.buffer, line.byteOffset, line.length);
    const [skip, culpritKind, index] = words.subarray(STEP_STATS.length + 1);
    const kind = culpritKind === 1 ? 'weight' : 'gradient';
    const culprit = culpritKind === 0 ? '' : `${prefix}${kind} ${parameterAt(parameterLayout, index!)}`;
    return { skipped: skip === 0 ? ('' as const) : skip === 1 ? ('empty' as const) : ('non-finite' as const), culprit };
  };
  const policyHealth = health(policy, layout, '');
  const criticHealth = critic && criticLayout ? health(critic, criticLayout, 'critic ') : null;
  const policyLoss = statOf(policy, 'policyLoss');
  const entropy = statOf(policy, 'entropy');
  const kl = statOf(policy, 'kl');
  const observationLoss = statOf(policy, 'observationLoss');
  const teacherKl = statOf(policy, 'teacherKl');
  const valueLoss = statOf(critic ?? policy, 'valueLoss');
  // a zero coefficient keeps a KL that is not finite out of the total
  const klTerm = note.klCoef === 0 ? 0 : note.klCoef * kl;
  const reportedHealth =
    policyHealth.skipped !== 'non-finite' && criticHealth?.skipped === 'non-finite' ? criticHealth : policyHealth;
  return {
    policyLoss,
    entropy,
    kl,
    clipFraction: statOf(policy, 'clipFraction'),
    clipFractionLower: statOf(policy, 'clipFractionLower'),
    approxKl: statOf(policy, 'approxKl'),
    observationLoss,
    teacherKl,
    valueLoss,
    total:
      policyLoss -
      note.entropyCoef * entropy +
      klTerm +
      note.observationLoss * observationLoss +
      note.teacherCoef * teacherKl +
      note.valueCoef * valueLoss,
    gradNorm: norm(policy),
    criticGradNorm: critic ? norm(critic) : 0,
    tokens: statOf(policy, 'tokens'),
    ...note.counts,
    ...reportedHealth,
  };
}

/** The statistics over `rows`, in the order of a log line, summed from the coefficients (15, B, T) of the batch. */
export function sumStats(coefficients: Float32Array, rows: Int32Array, B: number, T: number): Float32Array {
  return Float32Array.from(STEP_STATS, (_, stat) =>
    rows.reduce((sum, row) => {
      const start = ((2 + stat) * B + row) * T;
      return sum + coefficients.subarray(start, start + T).reduce((total, x) => total + x, 0);
    }, 0),
  );
}

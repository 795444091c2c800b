import { isCount } from '../../base/jsonRecord.ts';
import { FIELDS } from '../../config/fields.ts';
import { isRunArm } from '../../experiments/experimentDefinition.ts';
import { knownPlan, type OwnPlans, plannedRuns, planOf, type PlanChoice } from '../../experiments/experimentPlan.ts';
import type { RunIdentity } from '../../experiments/runResult.ts';

/** A requested run, small enough to store. Its knobs follow from its experiment and arm. */
export interface RunRequest extends Pick<PlanChoice, 'experiment' | 'updates' | 'backend'> {
  readonly arm: string;
  readonly seed: number;
}
export interface FailedRun extends RunRequest {
  readonly message: string;
}

/** The planned run of a request. Null if the experiment no longer exists or no longer has this arm. */
export function plannedRunOf(request: RunRequest, own?: OwnPlans): RunIdentity | null {
  const { experiment, arm, seed, updates, backend } = request;
  if (!knownPlan(experiment, own)?.experiment.arms.some((a) => a.key === arm && isRunArm(a))) return null;
  const plan = planOf({ experiment, arms: [arm], seeds: 1, updates, backend }, own);
  return plannedRuns({ ...plan, seeds: [seed] })[0] ?? null;
}

export function requestFor(plan: PlanChoice, { arm, seed }: RunIdentity): RunRequest {
  const { experiment, updates, backend } = plan;
  return { experiment, arm, seed, updates, backend };
}

export function isSameRequest(a: RunRequest, b: RunRequest): boolean {
  return (
    a.experiment === b.experiment &&
    a.arm === b.arm &&
    a.seed === b.seed &&
    a.updates === b.updates &&
    a.backend === b.backend
  );
}

/** Checks stored data, which anybody may have edited. Null if it isn't a request. */
export function parseRequest(value: unknown, own?: OwnPlans): RunRequest | null {
  if (typeof value !== 'object' || value === null) return null;
  const { experiment, arm, seed, updates, backend } = value as Partial<Record<keyof RunRequest, unknown>>;
  const isValid =
    typeof experiment === 'string' &&
    typeof arm === 'string' &&
    isInRange(seed) &&
    (updates === null || isInRange(updates)) &&
    isBackend(backend);
  if (!isValid) return null;
  const request = { experiment, arm, seed, updates, backend };
  return plannedRunOf(request, own) ? request : null;
}

function isBackend(x: unknown): x is RunRequest['backend'] {
  return FIELDS.backend.choices.some((choice) => choice === x);
}

const MAX_COUNT = 100_000;
const isInRange = (x: unknown): x is number => isCount(x) && x >= 1 && x <= MAX_COUNT;

import { baseName } from '../base/baseName.ts';
import { isCount, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { type EnvironmentFile, environmentSum, MAX_ENVIRONMENT_BYTES } from '../domain/environmentFile.ts';
import { metricNamed, type MetricName } from '../domain/metrics.ts';
import { type Facts, isFacts } from '../facts/facts.ts';
import { CheckpointError, damageText, PAIR_LISTS, PAIR_KINDS, TENSOR_SETS, readCheckpoint } from './checkpoint.ts';
import { fieldOf, readManifest, recordAt } from './manifest.ts';
import type { PackedRun } from './packed.ts';
import type { Points } from './series.ts';
import { MANIFEST_FORMAT, manifestChecksum, type StoredRun, MANIFEST_VERSION, withoutPath } from './storedRun.ts';

/** The unchecked parts of a stored run. Another version of this project may have written them, or they may be damaged. */
type UnreadRun = Readonly<Record<keyof StoredRun, unknown>>;

/**
 * Reads a run from its stored parts. `separateData` is the data that `withChecksum` included in the manifest's
 * checksum. Throws CheckpointError, often with the place, if anything differs from what was stored. The session checks
 * whether the run fits this page's model.
 */
export function readStoredRun({ manifest, tensors, points, texts }: UnreadRun, separateData: unknown): PackedRun {
  const whole = recordAt('', manifest);
  checkManifest(whole, separateData);
  const run = readRun(whole['run'], texts);
  const checkpoint = recordAt('checkpoint', whole['checkpoint']);
  const { tokenizer, template } = recordAt('texts', texts);
  const steps = recordAt('steps', whole['steps']);
  const tensorMap = tensors instanceof Map ? (tensors as ReadonlyMap<string, unknown>) : new Map<string, unknown>();
  const start = tensorsUnder(tensorMap, 'policy', 'start');
  const earlier = earlierWeights(tensorsUnder(tensorMap, 'policy', 'earlier'));
  const network = (owner: string, networkSteps: unknown) => {
    const [weights, adamM, adamV] = TENSOR_SETS.map((setName) => tensorsUnder(tensorMap, owner, setName));
    return { weights, adamM, adamV, steps: networkSteps };
  };
  const { steps: fitSteps, ...counts } = whole['rewardModel'] === null ? {} : recordAt('rewardModel', whole['rewardModel']); // prettier-ignore
  const checkpointParts = readCheckpoint({
    ...checkpoint,
    ...(start.size > 0 && { start }),
    ...(earlier.length > 0 && { earlier }),
    ...(isRecord(checkpoint['chatTokenizer']) && {
      chatTokenizer: { ...checkpoint['chatTokenizer'], tokenizer, template },
    }),
    networks: {
      policy: network('policy', steps['policy']),
      critic: steps['critic'] === null ? null : network('critic', steps['critic']),
    },
    rewardModel: whole['rewardModel'] && {
      network: network('reward_model', fitSteps),
      memory: { ...counts, ...pairLists(tensorMap) },
    },
  });
  const { update } = checkpointParts.progress;
  if (run.update === update) return { ...run, checkpoint: checkpointParts, points: readPoints(points) };
  throw new CheckpointError({
    ...{ place: 'run.update', got: String(run.update), want: `${update}, the update of its checkpoint` },
    what: `It says update ${run.update}, but its checkpoint is of update ${update}.`,
  });
}

function checkManifest(manifest: JsonRecord, separateData: unknown): void {
  const { format, version, sum } = manifest;
  if (format !== MANIFEST_FORMAT)
    throw new CheckpointError({ place: 'format', got: valueText(format), want: MANIFEST_FORMAT });
  if (version !== MANIFEST_VERSION) {
    const what = `this save has version ${valueText(version)}, and this page reads version ${MANIFEST_VERSION}.`;
    throw new CheckpointError({ place: 'version', got: valueText(version), want: String(MANIFEST_VERSION), what });
  }
  const checksum = manifestChecksum(manifest, separateData);
  if (sum === checksum) return;
  const want = `${checksum}, the checksum of the manifest and the curves`;
  throw new CheckpointError({ place: 'sum', got: valueText(sum), want, what: damageText(sum, checksum) });
}

function readRun(value: unknown, texts: unknown): Omit<PackedRun, 'checkpoint' | 'points'> {
  const run = recordAt('run', value);
  const solved = fieldOf(run, 'solved', isSolved, 'pairs of a task and whether it was solved, or null');
  const facts = fieldOf(run, 'facts', isFactsOrNull, 'a source and triples, or null');
  return {
    ...readManifest(run),
    health: [], // the monitor reports again when the run continues
    solved: solved && new Map(solved),
    skipped: fieldOf(run, 'skipped', isCount, 'a whole number of at least 0'),
    facts: facts && withoutPath(facts),
    environment: readEnvironment(run['environment'], recordAt('texts', texts)['environment']),
  };
}

const isFactsOrNull = (x: unknown): x is Facts | null => x === null || isFacts(x);
const isSolved = (x: unknown): x is [string, boolean][] | null =>
  x === null ||
  (Array.isArray(x) && x.every((p) => Array.isArray(p) && typeof p[0] === 'string' && typeof p[1] === 'boolean'));

/** Includes its text. Throws CheckpointError if the text is missing or has another checksum. */
function readEnvironment(reference: unknown, text: unknown): EnvironmentFile | null {
  if (reference === undefined) return null;
  const { name, sum } = isRecord(reference) ? reference : {};
  if (typeof name !== 'string' || typeof sum !== 'string') {
    throw new CheckpointError({ place: 'run.environment', got: valueText(reference), want: 'a name and a checksum' });
  }
  const fileProblem = (got: string, want: string) => new CheckpointError({ file: name, got, want });
  if (typeof text !== 'string') throw fileProblem('no such file', 'the environment that the run trains on');
  if (text.length > MAX_ENVIRONMENT_BYTES) {
    throw fileProblem(`${text.length} characters`, `at most ${MAX_ENVIRONMENT_BYTES}`);
  }
  const file = { name: baseName(name), text };
  const checksum = environmentSum(file);
  if (checksum === sum) return file;
  throw fileProblem(`a text with the checksum ${checksum}`, `${sum}, as the run was saved`);
}

/** The arrays of a reward model's pairs, under the names that `checkpointTensors` gave them. Not checked yet. */
function pairLists(tensors: ReadonlyMap<string, unknown>): object {
  const listsOf = (kind: string) => PAIR_LISTS.map((list) => [list, tensors.get(`reward_model.pairs.${kind}.${list}`)]);
  return Object.fromEntries(PAIR_KINDS.map((kind) => [kind, Object.fromEntries(listsOf(kind)) as object]));
}

/** The arrays whose names begin with `owner.setName.`, by the rest of the name, in the original order. Not checked yet. */
function tensorsUnder(
  tensors: ReadonlyMap<string, unknown>,
  owner: string,
  setName: string,
): ReadonlyMap<string, unknown> {
  const prefix = `${owner}.${setName}.`;
  const entries = [...tensors].filter(([name]) => name.startsWith(prefix));
  return new Map(entries.map(([name, values]) => [name.slice(prefix.length), values]));
}

/** The weights after each earlier update, from tensors named `UPDATE.NAME`. Not checked yet. */
function earlierWeights(tensors: ReadonlyMap<string, unknown>): readonly object[] {
  const byUpdate = new Map<string, Map<string, unknown>>();
  for (const [name, values] of tensors) {
    const [after = '', ...rest] = name.split('.');
    byUpdate.set(after, (byUpdate.get(after) ?? new Map<string, unknown>()).set(rest.join('.'), values));
  }
  return Array.from(byUpdate, ([after, weights]) => ({ after: Number(after), weights }));
}

/** Reads the points of the curves. Drops metrics that no longer exist. `unpackedRun` checks that updates ascend. */
function readPoints(points: unknown): ReadonlyMap<MetricName, Points> {
  const curves = new Map<MetricName, Points>();
  for (const [key, curve] of points instanceof Map ? (points as ReadonlyMap<unknown, unknown>) : []) {
    const { x, y } = isRecord(curve) ? curve : {};
    if (!(x instanceof Uint32Array) || !(y instanceof Float64Array) || x.length !== y.length) {
      throw new CheckpointError({
        place: `points.${String(key)}`,
        got: valueText(curve),
        want: 'updates with their values',
      });
    }
    const name = metricNamed(String(key));
    if (name) curves.set(name, { x, y });
  }
  return curves;
}

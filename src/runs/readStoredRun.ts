import { baseName } from '../base/baseName.ts';
import { isCount, isRecord, type JsonRecord, shown } from '../base/jsonRecord.ts';
import { type EnvironmentFile, environmentSum, MOST_ENVIRONMENT_BYTES } from '../domain/environmentFile.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';
import { type Facts, isFacts } from '../facts/facts.ts';
import { CheckpointError, damaged, PAIR_LISTS, PAIRS, POOLS, readCheckpoint } from './checkpoint.ts';
import { fieldOf, readManifest, recordAt } from './manifest.ts';
import type { PackedRun } from './packed.ts';
import type { Points } from './series.ts';
import { FORMAT, manifestSum, type StoredRun, VERSION, withoutPath } from './storedRun.ts';

/**
 * The unchecked parts of a stored run. Another version of this project may have written them, or they may be damaged.
 */
type UnreadRun = Readonly<Record<keyof StoredRun, unknown>>;

/**
 * Reads a run from its stored parts. `beside` is the data that `sealed` included in the manifest's checksum. Throws
 * CheckpointError, often with the place, if anything differs from what was stored. The session checks whether the run
 * fits this page's model.
 */
export function readStoredRun({ manifest, tensors, points, texts }: UnreadRun, beside: unknown): PackedRun {
  const whole = recordAt('', manifest);
  checkSeal(whole, beside);
  const run = readRun(whole['run'], texts);
  const checkpoint = recordAt('checkpoint', whole['checkpoint']);
  const { tokenizer, template } = recordAt('texts', texts);
  const steps = recordAt('steps', whole['steps']);
  const all = tensors instanceof Map ? (tensors as ReadonlyMap<string, unknown>) : new Map<string, unknown>();
  const start = poolOf(all, 'policy', 'start');
  const network = (owner: string, ownSteps: unknown) => {
    const [weights, adamM, adamV] = POOLS.map((pool) => poolOf(all, owner, pool));
    return { weights, adamM, adamV, steps: ownSteps };
  };
  const { steps: fitSteps, ...counts } = whole['rewardModel'] === null ? {} : recordAt('rewardModel', whole['rewardModel']); // prettier-ignore
  const read = readCheckpoint({
    ...checkpoint,
    ...(start.size > 0 && { start }),
    ...(isRecord(checkpoint['chatTokenizer']) && {
      chatTokenizer: { ...checkpoint['chatTokenizer'], tokenizer, template },
    }),
    networks: {
      policy: network('policy', steps['policy']),
      critic: steps['critic'] === null ? null : network('critic', steps['critic']),
    },
    rewardModel: whole['rewardModel'] && {
      network: network('reward_model', fitSteps),
      memory: { ...counts, ...pairsOf(all) },
    },
  });
  const { update } = read.progress;
  if (run.update === update) return { ...run, checkpoint: read, points: readPoints(points) };
  throw new CheckpointError({
    ...{ place: 'run.update', got: String(run.update), want: `${update}, the update of its checkpoint` },
    what: `It says update ${run.update}, but its checkpoint is of update ${update}.`,
  });
}

function checkSeal(manifest: JsonRecord, beside: unknown): void {
  const { format, version, sum } = manifest;
  if (format !== FORMAT) throw new CheckpointError({ place: 'format', got: shown(format), want: FORMAT });
  if (version !== VERSION) {
    const what = `this save has version ${shown(version)}, and this page reads version ${VERSION}.`;
    throw new CheckpointError({ place: 'version', got: shown(version), want: String(VERSION), what });
  }
  const found = manifestSum(manifest, beside);
  if (sum === found) return;
  const want = `${found}, the checksum of the manifest and the curves`;
  throw new CheckpointError({ place: 'sum', got: shown(sum), want, what: damaged(sum, found) });
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

/**
 * The environment that a manifest names, with its text. Throws CheckpointError if the text is missing or has another
 * checksum.
 */
function readEnvironment(named: unknown, text: unknown): EnvironmentFile | null {
  if (named === undefined) return null;
  const { name, sum } = isRecord(named) ? named : {};
  if (typeof name !== 'string' || typeof sum !== 'string') {
    throw new CheckpointError({ place: 'run.environment', got: shown(named), want: 'a name and a checksum' });
  }
  const wrong = (got: string, want: string) => new CheckpointError({ file: name, got, want });
  if (typeof text !== 'string') throw wrong('no such file', 'the environment that the run trains on');
  if (text.length > MOST_ENVIRONMENT_BYTES) {
    throw wrong(`${text.length} characters`, `at most ${MOST_ENVIRONMENT_BYTES}`);
  }
  const file = { name: baseName(name), text };
  const found = environmentSum(file);
  if (found === sum) return file;
  throw wrong(`a text with the checksum ${found}`, `${sum}, as the run was saved`);
}

/** The arrays of a reward model's pairs, which `checkpointTensors` named. They are not checked yet. */
function pairsOf(tensors: ReadonlyMap<string, unknown>): object {
  const listsOf = (kind: string) => PAIR_LISTS.map((list) => [list, tensors.get(`reward_model.pairs.${kind}.${list}`)]);
  return Object.fromEntries(PAIRS.map((kind) => [kind, Object.fromEntries(listsOf(kind)) as object]));
}

/**
 * The arrays whose names begin with `owner.pool.`, by the rest of the name, in the original order. They are not checked
 * yet.
 */
function poolOf(tensors: ReadonlyMap<string, unknown>, owner: string, pool: string): ReadonlyMap<string, unknown> {
  const prefix = `${owner}.${pool}.`;
  const own = [...tensors].filter(([name]) => name.startsWith(prefix));
  return new Map(own.map(([name, values]) => [name.slice(prefix.length), values]));
}

/** Reads the points of the curves. Drops metrics that no longer exist. `unpackedRun` checks that updates ascend. */
function readPoints(points: unknown): ReadonlyMap<MetricName, Points> {
  const found = new Map<MetricName, Points>();
  for (const [key, curve] of points instanceof Map ? (points as ReadonlyMap<unknown, unknown>) : []) {
    const name = String(key);
    const { x, y } = isRecord(curve) ? curve : {};
    if (!(x instanceof Uint32Array) || !(y instanceof Float64Array) || x.length !== y.length) {
      throw new CheckpointError({ place: `points.${name}`, got: shown(curve), want: 'updates with their values' });
    }
    if (Object.hasOwn(METRICS, name)) found.set(name as MetricName, { x, y });
  }
  return found;
}

import { isCount, isTexts } from '../base/jsonRecord.ts';
import { baseName } from '../base/baseName.ts';
import { checksumOf } from '../base/checksum.ts';
import { parseConfig } from '../config/config.ts';
import { type EnvironmentFile, environmentSum, MOST_ENVIRONMENT_BYTES } from '../domain/environmentFile.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';
import { type Facts, isFacts } from '../facts/facts.ts';
import { field, isRecord, jsonText, shown, type JsonRecord, readJson } from '../formats/jsonFile.ts';
import { FormatError } from '../formats/formatProblem.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { PackedRun } from '../runs/packed.ts';
import { type Change, isChange } from '../runs/change.ts';
import { readNames } from '../runs/run.ts';
import type { Points } from '../runs/series.ts';
import { bytesOf, environmentFileName, FILES } from './checkpointFolder.ts';

/** Names this project's folders, and the layout of what follows. */
const FORMAT = 'rollout-playground-checkpoint';
const VERSION = 1;

/**
 * playground.json: all of a run that is neither a tensor nor a curve, with the checkpoint's checksum and one of this file with the
 * curves. Numbers read back bit for bit.
 */
export function manifestFile({ checkpoint, environment, ...run }: PackedRun, metrics: string): string {
  const { networks, rewardModel, ...plain } = checkpoint;
  const { pairs, clicks, observed, fits } = rewardModel?.memory ?? { pairs: 0, clicks: 0, observed: 0, fits: 0 };
  const steps = { policy: networks.policy.steps, critic: networks.critic?.steps ?? null };
  const solved = run.solved && [...run.solved];
  const manifest = {
    ...{ format: FORMAT, version: VERSION },
    run: {
      ...run,
      ...{ facts: run.facts && withoutPath(run.facts), points: undefined, health: undefined, solved },
      environment: environment ? { name: environment.name, sum: environmentSum(environment) } : undefined,
    },
    // the text of an environment and those of a chat tokenizer are files of their own
    checkpoint: {
      ...plain,
      start: undefined,
      ...(plain.chatTokenizer && { chatTokenizer: { stops: plain.chatTokenizer.stops } }),
    },
    steps,
    rewardModel: rewardModel && { steps: rewardModel.network.steps, pairs, clicks, observed, fits },
  };
  const text = jsonText(manifest);
  return jsonText({ ...manifest, sum: sumOf(JSON.parse(text), bytesOf(metrics)) });
}

/** Over the file as it reads, and the curves beside it: what a disk keeps may be damaged. */
function sumOf(manifest: unknown, metrics: Uint8Array): string {
  return checksumOf({ ...(isRecord(manifest) && manifest), sum: null, metrics });
}

/** What a playground.json holds: the parts of a checkpoint that are no tensors, unread, and the run around it. */
export interface ReadManifest {
  readonly run: Omit<PackedRun, 'checkpoint' | 'points'>;
  readonly checkpoint: JsonRecord;
  readonly steps: JsonRecord;
  readonly rewardModel: JsonRecord | null;
}

/** Reads it. Throws FormatError with the field that does not read, and where it, the curves or the environment are not what its checksums were made of. */
export function readManifest(bytes: Uint8Array, metrics: Uint8Array, environment?: Uint8Array): ReadManifest {
  const whole = record(readJson(FILES.manifest, bytes), '');
  const [format, version] = [field(whole, 'format'), field(whole, 'version')];
  if (format !== FORMAT) throw unreadable('format', format, FORMAT);
  if (version !== VERSION) throw unreadable('version', version, `${VERSION}: this page writes and reads no other`);
  const found = sumOf(whole, metrics);
  if (field(whole, 'sum') !== found) {
    throw unreadable('sum', field(whole, 'sum'), `${found}, the checksum of what this file and metrics.jsonl hold`);
  }
  const rewardModel = field(whole, 'rewardModel');
  return {
    run: readRun(record(field(whole, 'run'), 'run'), environment),
    checkpoint: record(field(whole, 'checkpoint'), 'checkpoint'),
    steps: record(field(whole, 'steps'), 'steps'),
    rewardModel: rewardModel === null ? null : record(rewardModel, 'rewardModel'),
  };
}

/** The text of the environment that a run trains on, as a file; none where no person wrote it. */
export function environmentFiles({ environment }: PackedRun): readonly (readonly [string, string])[] {
  return environment ? [[environmentFileName(environment), environment.text]] : [];
}

/** The environment that a manifest names, with its text. Throws FormatError where the text is missing or another one. */
function readEnvironment(named: unknown, bytes: Uint8Array | undefined): EnvironmentFile | null {
  if (named === undefined) return null;
  const [name, sum] = isRecord(named) ? [field(named, 'name'), field(named, 'sum')] : [];
  if (!isText(name) || !isText(sum)) throw unreadable('run.environment', named, 'a name and a checksum');
  const remedy = 'Copy the file that the run was saved with.';
  const wrong = (got: string, want: string) =>
    new FormatError([{ file: environmentFileName({ name }), place: '', got, want, remedy }]);
  if (!bytes) throw wrong('no such file', 'the environment that the run trains on');
  if (bytes.length > MOST_ENVIRONMENT_BYTES) throw wrong(`${bytes.length} bytes`, `at most ${MOST_ENVIRONMENT_BYTES}`);
  const file = { name: baseName(name), text: new TextDecoder().decode(bytes) };
  const found = environmentSum(file);
  if (found === sum) return file;
  throw wrong(`a text with the checksum ${found}`, `${sum}, as the run was saved`);
}

/** The facts with only the name of their file. Its folder is private. */
function withoutPath(facts: Facts): Facts {
  return { ...facts, source: baseName(facts.source) };
}

function readRun(run: JsonRecord, environment: Uint8Array | undefined): ReadManifest['run'] {
  const get = <T>(name: string, is: (value: unknown) => value is T, want: string): T => {
    const value = field(run, name);
    if (is(value)) return value;
    throw unreadable(`run.${name}`, value, want);
  };
  const solved = get('solved', isSolved, 'pairs of a task and whether it was solved, or null');
  const facts = field(run, 'facts');
  if (facts !== null && !isFacts(facts)) throw unreadable('run.facts', facts, 'a source and triples, or null');
  const kernels = field(run, 'kernels');
  const fork = field(run, 'fork');
  if (kernels !== undefined && !isTexts(kernels)) throw unreadable('run.kernels', kernels, 'texts by name');
  if (fork !== undefined && !isFork(fork)) throw unreadable('run.fork', fork, 'a run and an update');
  const knobs = (name: string) => {
    try {
      return parseConfig(record(field(run, name), `run.${name}`));
    } catch (error) {
      if (error instanceof FormatError) throw error;
      throw unreadable(`run.${name}`, error instanceof Error ? error.message : 'knobs', 'knobs this page has');
    }
  };
  const { name, backend } = readNames(
    get('name', isText, 'a text'),
    get('backend', isBackend, 'a kind, gpu or cpu, and an adapter'),
  );
  return {
    id: get('id', isCount, 'a whole number'),
    name,
    started: get('started', isDate, 'a time as ISO 8601'),
    backend,
    ...{ begun: knobs('begun'), config: knobs('config') },
    changes: get('changes', areChanges, 'updates with texts'),
    health: [], // said again as the run goes on
    solved: solved && new Map(solved),
    skipped: get('skipped', isCount, 'a whole number'),
    facts: facts && withoutPath(facts),
    environment: readEnvironment(field(run, 'environment'), environment),
    ...(kernels && { kernels }),
    ...(fork && { fork }),
    update: get('update', isCount, 'a whole number'),
  };
}

/** metrics.jsonl: a line an update, `{"update": 3, "rollout/success": 0.5, …}`, as data frames read them. */
export function metricsFile(points: PackedRun['points']): string {
  const lines = byUpdate(points).map(([update, values]) => jsonText({ update, ...Object.fromEntries(values) }, 0));
  return lines.join('');
}

/** Curves from those lines; what is no metric any more is left out. Throws FormatError with the line that does not read. */
export function readMetrics(bytes: Uint8Array): Map<MetricName, Points> {
  const curves = new Map<MetricName, { x: number[]; y: number[] }>();
  let last = -1;
  let line = 0;
  for (const part of linesOf(bytes)) {
    line++;
    const values = readJson(FILES.metrics, part, `line ${line}`);
    const update = isRecord(values) ? field(values, 'update') : undefined;
    if (!isRecord(values) || !isCount(update) || update <= last) {
      throw unreadable(`line ${line}`, update, 'rising updates', FILES.metrics);
    }
    last = update;
    for (const [name, value] of Object.entries(values)) {
      if (name === 'update') continue;
      if (typeof value !== 'number') throw unreadable(`line ${line}, ${name}`, value, 'a number', FILES.metrics);
      if (!isMetric(name)) continue;
      const curve = curves.get(name) ?? { x: [], y: [] };
      curves.set(name, curve);
      curve.x.push(update);
      curve.y.push(value);
    }
  }
  return new Map(Array.from(curves, ([name, { x, y }]) => [name, { x: Uint32Array.from(x), y: Float64Array.from(y) }]));
}

const NEWLINE = 10;
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found < 0 ? bytes.length : found;
    yield bytes.subarray(at, end);
    at = end + 1;
  }
}

function unreadable(place: string, got: unknown, want: string, file: string = FILES.manifest): FormatError {
  const remedy = 'It is damaged or of another version: export the run again.';
  return new FormatError([{ file, place, got: shown(got), want, remedy }]);
}

function record(value: unknown, place: string): JsonRecord {
  if (isRecord(value)) return value;
  throw unreadable(place, value, 'an object');
}

const isText = (x: unknown): x is string => typeof x === 'string';
const isDate = (x: unknown): x is string => typeof x === 'string' && Number.isFinite(Date.parse(x));
const isMetric = (name: string): name is MetricName => Object.hasOwn(METRICS, name);
const areChanges = (x: unknown): x is Change[] => Array.isArray(x) && x.every(isChange);
const isFork = (x: unknown): x is { run: number; update: number } =>
  isRecord(x) && isCount(field(x, 'run')) && isCount(field(x, 'update'));
const isBackend = (x: unknown): x is PackedRun['backend'] =>
  isRecord(x) && ['cpu', 'gpu'].includes(String(field(x, 'kind'))) && isText(field(x, 'adapter'));
const isSolved = (x: unknown): x is [string, boolean][] | null =>
  x === null || (Array.isArray(x) && x.every((p) => Array.isArray(p) && isText(p[0]) && typeof p[1] === 'boolean'));

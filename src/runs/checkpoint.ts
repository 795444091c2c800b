import { isCount } from '../base/jsonRecord.ts';
import { checksumOf } from '../base/checksum.ts';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { ProblemError } from '../base/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import type { PackedPairs, RewardModelMemory } from '../domain/preferences.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { type MonitorMemory, noProgress, type Progress, type TrackMemory } from '../domain/progress.ts';

/** Of the layout below and of what the trainer makes of it: a save of another version cannot be gone on with. */
const VERSION = 3;

/** Tensors by Hugging Face name, row-major float32. */
export type Tensors = ReadonlyMap<string, Float32Array>;

/** A network with its optimizer. */
export interface SavedNetwork {
  readonly weights: Tensors;
  readonly adamM: Tensors;
  readonly adamV: Tensors;
  readonly steps: number; // AdamW steps taken
}
export interface SavedPolicy {
  readonly policy: SavedNetwork;
  readonly critic: SavedNetwork | null;
}

/** A reward model with its optimizer, the pairs it has collected and a person's choices among them. */
export interface SavedRewardModel {
  readonly network: SavedNetwork;
  readonly memory: RewardModelMemory;
}

/** A run between two updates, as plain data: everything needed to continue with the same bits on the same backend. */
export interface Checkpoint {
  readonly version: typeof VERSION;
  readonly begun: RunConfig; // warm start and reference are computed from it
  readonly config: RunConfig; // as it is now
  readonly vocabulary: readonly string[];
  readonly kernels?: string; // of a GPU, by name: other kernels round differently
  readonly networks: SavedPolicy;
  readonly rewardModel: SavedRewardModel | null;
  readonly progress: Progress;
  readonly chatTokenizer?: ChatTokenizerFiles; // of a text model; absent if the model uses the words of `vocabulary`
  readonly base?: BaseMark; // the checkpoint that the networks are adapters for; the vocabulary is then in the checkpoint
  readonly start?: Tensors; // the weights at the start of reinforcement learning, if a seed cannot make them again: another program's, those in an environment that a person wrote, or adapters after imitation
  readonly sum: string; // checksum of everything else, because browser storage may be damaged
}

/** Puts a checkpoint together, sealed with its checksum; `progress` is copied, the networks are not. */
export function checkpointOf(parts: Omit<Checkpoint, 'version' | 'sum'>): Checkpoint {
  const whole = { ...parts, version: VERSION, progress: structuredClone(parts.progress) } as const;
  return { ...whole, sum: sumOf(whole) };
}

function sumOf(checkpoint: object): string {
  return checksumOf({ ...checkpoint, sum: null });
}

/** The same checkpoint with other knobs from here on, and a new checksum. */
export function underKnobs(checkpoint: Checkpoint, config: RunConfig): Checkpoint {
  return checkpointOf({ ...checkpoint, config });
}

/** The arrays of a checkpoint by the names that they have wherever a run is stored. */
export type CheckpointTensors = ReadonlyMap<string, Float32Array | Int32Array | Uint8Array>;

/** What a network has of each of its tensors. */
export const POOLS = ['weights', 'adamM', 'adamV'] as const;
/** The kinds of pairs that a reward model collects, and the lists that a kind consists of. */
export const PAIRS = ['fitted', 'heldOut', 'persons'] as const;
export const PAIR_LISTS = ['lengths', 'tokens', 'roles'] as const;

/** What the names of the policy's weights begin with. */
export const POLICY_WEIGHTS = 'policy.weights.';

type Learned = Pick<Checkpoint, 'networks' | 'rewardModel' | 'start'>;

/**
 * All arrays of a checkpoint by name: `policy.weights.NAME` with AdamW's moments as `policy.adamM.NAME` and `policy.adamV.NAME`, the same of `critic` and
 * `reward_model`, the weights at the start as `policy.start.NAME`, and the reward model's pairs as `reward_model.pairs.KIND.LIST`. Nothing is copied.
 */
export function checkpointTensors({ networks, rewardModel, start }: Learned): CheckpointTensors {
  const tensors = new Map<string, Float32Array | Int32Array | Uint8Array>();
  const addPool = (prefix: string, pool: Tensors) => {
    for (const [name, values] of pool) tensors.set(`${prefix}.${name}`, values);
  };
  const add = (owner: string, network: SavedNetwork) => {
    for (const pool of POOLS) addPool(`${owner}.${pool}`, network[pool]);
  };
  add('policy', networks.policy);
  if (start) addPool('policy.start', start);
  if (networks.critic) add('critic', networks.critic);
  if (rewardModel) add('reward_model', rewardModel.network);
  for (const kind of rewardModel ? PAIRS : []) {
    for (const list of PAIR_LISTS) {
      tensors.set(`reward_model.pairs.${kind}.${list}`, rewardModel?.memory[kind][list] ?? new Int32Array());
    }
  }
  return tensors;
}

/** Bytes of its tensors and of the pairs it has collected. */
export function checkpointBytes(checkpoint: Learned): number {
  return Array.from(checkpointTensors(checkpoint).values()).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The first tensor with a NaN or an infinity in it, as `weight NAME`, `moment NAME` or the same of critic or reward model; or ''. */
export function nonFinite(checkpoint: Learned): string {
  const bad = [...checkpointTensors(checkpoint)].find(([, values]) => !isFinite(values));
  if (!bad) return '';
  const [owner = '', pool = '', ...name] = bad[0].split('.');
  const kind = pool === 'weights' ? 'weight' : pool === 'start' ? 'first weight' : 'moment';
  return `${owner === 'policy' ? '' : `${owner.replace('_', ' ')} `}${kind} ${name.join('.')}`;
}

function isFinite(values: Float32Array | Int32Array | Uint8Array): boolean {
  // x·0 is 0 for every finite x and NaN otherwise, and NaN stays
  let zero = 0;
  for (const x of values) zero += x * 0;
  return zero === 0;
}

/** A save that can’t be continued. A class of its own: the page then offers a new run. */
export class CheckpointError extends ProblemError {
  override readonly name = 'CheckpointError';
}

/**
 * Reads what a browser kept, which may have been written by another version of the page or have been damaged. Throws
 * CheckpointError for another version, invalid knobs, a tensor that is not a float32 array or not finite, invalid progress or pairs,
 * and a checksum that does not match. It does not check whether the tensors fit the model.
 */
export function readCheckpoint(value: unknown): Checkpoint {
  const saved = asRecord(value, 'the save');
  if (saved['version'] !== VERSION) {
    throw new CheckpointError(`It is of version ${String(saved['version'])}; this page reads version ${VERSION}.`);
  }
  const { policy, critic } = asRecord(saved['networks'], 'networks');
  const networks = { policy: readNetwork(policy), critic: critic === null ? null : readNetwork(critic) };
  const rewardModel = saved['rewardModel'] === null ? null : readRewardModel(saved['rewardModel']);
  const start = saved['start'] === undefined ? null : readTensors(saved['start']);
  const bad = nonFinite({ networks, rewardModel, ...(start && { start }) });
  if (bad) throw new CheckpointError(`${bad} holds a number that is not finite.`);
  const { vocabulary } = saved;
  if (!Array.isArray(vocabulary) || !vocabulary.every((word) => typeof word === 'string')) {
    throw new CheckpointError('Its vocabulary is no list of words.');
  }
  const read = {
    begun: readConfig(saved['begun']),
    config: readConfig(saved['config']),
    vocabulary,
    ...(typeof saved['kernels'] === 'string' && { kernels: saved['kernels'] }),
    networks,
    rewardModel,
    progress: readProgress(saved['progress']),
    ...(saved['chatTokenizer'] !== undefined && { chatTokenizer: readChatTokenizer(saved['chatTokenizer']) }),
    ...(saved['base'] !== undefined && { base: readBase(saved['base']) }),
    ...(start && { start }),
  };
  const found = sumOf(saved);
  if (saved['sum'] !== found) throw new CheckpointError(damaged(saved['sum'], found));
  return checkpointOf(read); // with a new checksum: fields that this page does not know are left out
}

/** The sentence for contents that are not those a checksum was made of. */
export function damaged(sum: unknown, found: string): string {
  return `It was damaged after it was saved: its checksum is ${typeof sum === 'string' ? sum : 'missing'}, its contents give ${found}.`;
}

function readChatTokenizer(value: unknown): ChatTokenizerFiles {
  const { tokenizer, template, stops } = asRecord(value, 'its chat tokenizer');
  if (typeof tokenizer !== 'string' || typeof template !== 'string' || !Array.isArray(stops)) {
    throw new CheckpointError('Its chat tokenizer must have a tokenizer, a chat template and a list of ids.');
  }
  return { tokenizer, template, stops: stops.map(count) };
}

function readBase(value: unknown): BaseMark {
  const { name, sha256, whole, bytes } = asRecord(value, 'its base');
  const isSum = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);
  if (typeof name !== 'string' || !isSum(sha256) || !(whole === undefined || isSum(whole))) {
    throw new CheckpointError('Its base is no name and SHA-256.');
  }
  return { name, sha256, ...(whole !== undefined && { whole }), bytes: count(bytes) };
}

function readConfig(value: unknown): RunConfig {
  try {
    return parseConfig(asRecord(value, 'its knobs'));
  } catch (error) {
    if (error instanceof ConfigError) throw new CheckpointError(`Its knobs: ${error.message}`);
    throw error;
  }
}

function readNetwork(value: unknown): SavedNetwork {
  const { weights, adamM, adamV, steps } = asRecord(value, 'a network');
  return { weights: readTensors(weights), adamM: readTensors(adamM), adamV: readTensors(adamV), steps: count(steps) };
}

function readRewardModel(value: unknown): SavedRewardModel {
  const { network, memory } = asRecord(value, 'its reward model');
  const { pairs, clicks, observed, fits, fitted, heldOut, persons } = asRecord(memory, "its reward model's memory");
  return {
    network: readNetwork(network),
    memory: {
      ...{ pairs: count(pairs), clicks: count(clicks), observed: count(observed), fits: count(fits) },
      fitted: readPairs(fitted, 'fits'),
      heldOut: readPairs(heldOut, 'holds out'),
      persons: readPairs(persons, 'was taught by a person'),
    },
  };
}

function readPairs(value: unknown, which: string): PackedPairs {
  const { lengths, tokens, roles } = asRecord(value, `the pairs its reward model ${which}`);
  const reads =
    lengths instanceof Int32Array &&
    lengths.length % 2 === 0 &&
    lengths.every((length) => length > 0) &&
    tokens instanceof Int32Array &&
    roles instanceof Uint8Array &&
    [tokens, roles].every((list) => list.length === lengths.reduce((sum, length) => sum + length, 0));
  if (reads) return { lengths, tokens, roles };
  throw new CheckpointError(`The pairs its reward model ${which} are no pairs of rollouts.`);
}

function readTensors(value: unknown): Tensors {
  const entries: unknown[] = value instanceof Map ? [...value] : [];
  const tensors = new Map<string, Float32Array>();
  for (const entry of entries) {
    const [name, tensor] = entry as readonly [unknown, unknown];
    if (typeof name === 'string' && tensor instanceof Float32Array) tensors.set(name, tensor);
  }
  if (tensors.size === 0 || tensors.size < entries.length)
    throw new CheckpointError('A pool of it is no set of tensors.');
  return tensors;
}

function readProgress(value: unknown): Progress {
  const { imitated, evaluated, update, empty, penalty, monitor } = asRecord(value, 'progress');
  const { knob, current } = asRecord(penalty, 'penalty');
  const { tracks, state, since, held, free, vanished, heard, best, kind } = asRecord(monitor, 'monitor');
  const fresh = noProgress();
  const names = Object.keys(fresh.monitor.tracks) as (keyof MonitorMemory['tracks'])[];
  const given = asRecord(tracks, 'tracks');
  if (state !== 'ok' && state !== 'watch' && state !== 'trap') {
    throw new CheckpointError(`Its monitor's state reads ${String(state)}.`);
  }
  return {
    imitated: count(imitated),
    evaluated: evaluated === true,
    update: count(update),
    empty: count(empty),
    penalty: { knob: finite(knob), current: finite(current) },
    monitor: {
      tracks: Object.fromEntries(names.map((name) => [name, readTrack(given[name])])) as MonitorMemory['tracks'],
      state,
      since: count(since),
      held: count(held),
      free: count(free),
      vanished: count(vanished),
      heard: heard === null ? null : finite(heard),
      best: best === null ? null : finite(best),
      kind: kind === 'collapse' || kind === 'blind' ? kind : null,
    },
  };
}

function readTrack(value: unknown): TrackMemory {
  const { last, from } = asRecord(value, 'a track');
  if (!Array.isArray(last)) throw new CheckpointError('A track of it is no list of numbers.');
  return { last: last.map(finite), from: from === null ? null : finite(from) };
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null)
    throw new CheckpointError({ place: what, got: String(value), want: 'an object' });
  return value as Readonly<Record<string, unknown>>;
}

function finite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new CheckpointError(`A number of it reads ${String(value)}.`);
}

function count(value: unknown): number {
  if (isCount(value)) return value;
  throw new CheckpointError(`A count of it reads ${String(value)}.`);
}

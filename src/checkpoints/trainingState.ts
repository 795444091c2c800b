import type { PackedPairs } from '../domain/preferences.ts';
import type { SafeTensor } from '../formats/safetensors.ts';
import { FormatError } from '../formats/formatProblem.ts';
import type { Checkpoint, SavedNetwork, Tensors } from '../runs/checkpoint.ts';
import { FILES } from './checkpointFolder.ts';

/** Tensors of a safetensors file, by name. */
export type NamedTensors = Map<string, SafeTensor>;

const POOLS = ['weights', 'adamM', 'adamV'] as const;
const PAIRS = ['fitted', 'heldOut', 'persons'] as const;
const PARTS = ['lengths', 'tokens', 'roles'] as const;

/**
 * training_state.safetensors: AdamW's moments as `policy.adamM.NAME` and `policy.adamV.NAME`, with `policy.weights.NAME` where they are adapters, a critic of its own and a reward model
 * likewise, with `weights`, another program's weights where it began with those as `policy.start.NAME`, and the pairs of rollouts it has collected as `reward_model.pairs.KIND.PART`.
 */
export function trainingTensors(
  { networks, rewardModel, start, base }: Checkpoint,
  shapes: ReadonlyMap<string, readonly number[]>,
) {
  const tensors: NamedTensors = new Map();
  const addPool = (prefix: string, pool: Tensors) => {
    for (const [name, values] of pool) {
      tensors.set(`${prefix}.${name}`, { shape: shapeOf(shapes.get(name), values.length), values });
    }
  };
  const add = (owner: string, network: SavedNetwork, pools: readonly (typeof POOLS)[number][]) => {
    for (const pool of pools) addPool(`${owner}.${pool}`, network[pool]);
  };
  add('policy', networks.policy, base ? POOLS : ['adamM', 'adamV']);
  if (start) addPool('policy.start', start);
  if (networks.critic) add('critic', networks.critic, POOLS);
  if (rewardModel) add('reward_model', rewardModel.network, POOLS);
  for (const kind of rewardModel ? PAIRS : []) {
    for (const part of PARTS) {
      const values = rewardModel?.memory[kind][part] ?? new Int32Array();
      tensors.set(`reward_model.pairs.${kind}.${part}`, { shape: [values.length], values });
    }
  }
  return tensors;
}

const shapeOf = (shape: readonly number[] | undefined, size: number): readonly number[] =>
  shape?.reduce((a, b) => a * b, 1) === size ? shape : [size];

/** The float32 tensors whose names begin with `owner.pool.`, by the rest of their names, in their order. */
export function poolOf(tensors: ReadonlyMap<string, SafeTensor>, owner: string, pool: string): Tensors {
  const prefix = `${owner}.${pool}.`;
  const found = new Map<string, Float32Array>();
  for (const [name, { values }] of tensors) {
    if (!name.startsWith(prefix)) continue;
    if (!(values instanceof Float32Array)) throw damagedState(name, 'whole numbers', 'float32');
    found.set(name.slice(prefix.length), values);
  }
  return found;
}

/** A network with its optimizer, as a checkpoint has it. */
export function networkOf(tensors: ReadonlyMap<string, SafeTensor>, owner: string, steps: unknown) {
  const [weights, adamM, adamV] = POOLS.map((pool) => poolOf(tensors, owner, pool));
  return { weights, adamM, adamV, steps };
}

/** The pairs of a reward model, by kind. Throws FormatError where one is missing or of another type. */
export function pairsOf(tensors: ReadonlyMap<string, SafeTensor>): Readonly<Record<string, PackedPairs>> {
  const part = (kind: string, name: string) => tensors.get(`reward_model.pairs.${kind}.${name}`)?.values;
  return Object.fromEntries(
    PAIRS.map((kind) => {
      const [lengths, tokens, roles] = PARTS.map((name) => part(kind, name));
      if (!(lengths instanceof Int32Array) || !(tokens instanceof Int32Array) || !(roles instanceof Uint8Array)) {
        throw damagedState(`reward_model.pairs.${kind}`, 'no lists of pairs', 'lengths and tokens as I32, roles as U8');
      }
      return [kind, { lengths, tokens, roles }];
    }),
  );
}

function damagedState(place: string, got: string, want: string): FormatError {
  return new FormatError([{ file: FILES.training, place, got, want, remedy: 'Export the run again.' }]);
}

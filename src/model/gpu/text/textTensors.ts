import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { uniformOf } from '../../../gpu/kernel.ts';
import { sampleTokens } from '../../../gpu/kernels/index.ts';
import type { ModelConfig } from '../../architecture.ts';
import { BackendError } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { WeightSource } from '../../weightSource.ts';
import { declareMatrix, type Matrix } from './matrices.ts';

/** How much text a model on the device is opened for. */
export interface TextRoom {
  readonly rows: number; // B
  readonly length: number; // most tokens of a row's text
  readonly cachedTokens?: number; // tokens whose keys and values are kept, shared ones once; B × length by default
  readonly halfCache?: boolean; // false keeps keys and values in float32
  readonly bufferBytes?: number; // of a matrix or a layer's cache at most; by default what the device binds
  readonly prefill?: number; // tokens that run through the network together where none is drawn, at least 128; by default 256
}

/** Tokens drawn between two read-backs. */
export const CHUNK = 16;
/** Most of the likeliest tokens that are asked for at once. */
export const MOST_LIKELIEST = 256;
/** Most ids that end a turn. */
export const MOST_STOPS = 64;
/** Numbers of seats whose logits are made in one pass. */
const HEAD_SEATS = [1, 4, 16, 64];
const PREFILL = 256;
/** How tokens are drawn, as the sampler reads it. */
export const TEXT_SAMPLING = uniformOf(sampleTokens, 'settings');
/** Heads that paged_attention.wgsl has registers for. */
const MOST_HEAD = 128;

/** Weights of a layer on the device. */
export interface LayerWeights {
  readonly inputNorm: Tensor;
  readonly qkv: Matrix;
  readonly qkvBias: Tensor | null;
  readonly headNorms: Tensor | null; // (2,D) of q, of k
  readonly output: Matrix;
  readonly postNorm: Tensor;
  readonly gateUp: Matrix;
  readonly down: Matrix;
}

/** All a text model has on the device. M is the most seats of a pass, S the most whose logits are made. */
export interface TextTensors {
  readonly places: number; // of the cache
  readonly halves: boolean; // in the cache
  readonly seatsOf: { readonly head: readonly number[]; readonly prefill: number }; // sizes that passes are recorded for
  readonly memory: readonly MemoryPart[];
  readonly matrices: readonly Matrix[]; // all of them
  readonly vectors: ReadonlyMap<Tensor, readonly string[]>; // names of the tensors in each, one after the other
  readonly embed: Matrix;
  readonly head: Matrix;
  readonly layers: readonly LayerWeights[];
  readonly norm: Tensor;
  readonly cache: readonly Tensor[]; // a layer (places, 2·G·D) packed halves or floats: see paged_heads.wgsl
  readonly rotary: Tensor; // (T, D/2, 2)
  readonly table: Tensor; // (B,T) places
  readonly seats: Tensor; // (M, 4): token, position, row, left
  readonly acts: Readonly<Record<Activation, Tensor>>;
  readonly logits: Tensor; // (S,V)
  readonly settings: Tensor; // TEXT_SAMPLING
  readonly stops: Tensor;
  readonly drawn: Tensor; // (S, 1 + 2·CHUNK)
  readonly found: Tensor; // (S, 2·MOST_LIKELIEST)
  readonly targets: Tensor; // (S)
  readonly scored: Tensor; // (S)
}

/** What a pass writes on its way, (M, …); xhat and inv are the norms' own. */
type Activation = 'x' | 'xhat' | 'y' | 'inv' | 'qkv' | 'queries' | 'attended' | 'gateUp' | 'act';

/**
 * Declares all a text model needs on a device; `memory` says how much that is before anything is allocated. Throws BackendError where sizes are none the kernels
 * have, or the cache is more than the device binds.
 */
export function declareText(
  arena: Arena,
  gpu: Gpu,
  model: ModelConfig,
  source: WeightSource,
  room: TextRoom,
): TextTensors {
  checkSizes(model);
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize, room.bufferBytes ?? Infinity);
  const { rows: B, length: T, cachedTokens: places = B * T, halfCache = true, prefill = PREFILL } = room;
  const { hidden_size: d, intermediate_size: F, head_dim: D, num_key_value_heads: G, vocab_size: V } = model;
  const inner = model.num_attention_heads * D;
  const W = inner + 2 * G * D;
  const head = HEAD_SEATS.slice(0, HEAD_SEATS.findIndex((seats) => seats >= Math.min(B, 64)) + 1);
  if (head.length < 3) head.splice(0, head.length, ...HEAD_SEATS.slice(0, 3)); // texts to be scored take several seats of one row
  const S = head.at(-1)!;
  const M = Math.max(S, prefill);
  const placeWords = (halfCache ? 1 : 2) * G * D; // of a layer
  checkCache(4 * placeWords, places, room, limit);
  const memory: MemoryPart[] = [];
  const vectors = new Map<Tensor, readonly string[]>();
  const matrices: Matrix[] = [];
  const part = <T>(purpose: string, declare: () => T): T => {
    const before = arena.bytes;
    const declared = declare();
    memory.push({ purpose, bytes: arena.bytes - before });
    return declared;
  };
  const matrix = (...names: readonly string[]) => {
    const declared = declareMatrix(arena, source, names, limit);
    matrices.push(declared);
    return declared;
  };
  const vector = (size: number, ...names: readonly string[]) => {
    const declared = arena.declare(names[0]!, [size]);
    vectors.set(declared, names);
    return declared;
  };
  const weights = part('weights', () => {
    const embed = matrix('model.embed_tokens.weight');
    const layers = Array.from({ length: model.num_hidden_layers }, (_, i): LayerWeights => {
      const at = `model.layers.${i}`;
      const qkv = (suffix: string) => ['q', 'k', 'v'].map((name) => `${at}.self_attn.${name}_proj.${suffix}`);
      return {
        inputNorm: vector(d, `${at}.input_layernorm.weight`),
        qkv: matrix(...qkv('weight')),
        qkvBias: model.attention_bias ? vector(W, ...qkv('bias')) : null,
        headNorms: model.qk_norm
          ? vector(2 * D, `${at}.self_attn.q_norm.weight`, `${at}.self_attn.k_norm.weight`)
          : null,
        output: matrix(`${at}.self_attn.o_proj.weight`),
        postNorm: vector(d, `${at}.post_attention_layernorm.weight`),
        gateUp: matrix(`${at}.mlp.gate_proj.weight`, `${at}.mlp.up_proj.weight`),
        down: matrix(`${at}.mlp.down_proj.weight`),
      };
    });
    const norm = vector(d, 'model.norm.weight');
    return { embed, head: model.tie_word_embeddings ? embed : matrix('lm_head.weight'), layers, norm };
  });
  const cache = part('key-value cache', () =>
    weights.layers.map((_, i) => arena.declare(`key-value cache ${i}`, [places, placeWords])),
  );
  const acts = part('activations', () => ({
    x: arena.declare('x', [M, d]),
    xhat: arena.declare('xhat', [M, d]),
    y: arena.declare('y', [M, d]),
    inv: arena.declare('inv', [M]),
    qkv: arena.declare('qkv', [M, W]),
    queries: arena.declare('queries', [M, inner]),
    attended: arena.declare('attended', [M, inner]),
    gateUp: arena.declare('gates and ups', [M, 2 * F]),
    act: arena.declare('act', [M, F]),
  }));
  const logits = part('logits', () => arena.declare('logits', [S, V]));
  const rows = part('rows', () => ({
    rotary: arena.declare('rotary table', [T, D / 2, 2]),
    table: arena.declare('places', [B, T]),
    seats: arena.declare('seats', [M, 4]),
    settings: arena.declare('sampling', [TEXT_SAMPLING.fields.length], [], GPUBufferUsage.UNIFORM),
    stops: arena.declare('stops', [MOST_STOPS]),
    drawn: arena.declare('drawn', [S, 1 + 2 * CHUNK]),
    found: arena.declare('found', [S, 2 * MOST_LIKELIEST]),
    targets: arena.declare('targets', [S]),
    scored: arena.declare('scored', [S]),
  }));
  const seatsOf = { head, prefill };
  return {
    places,
    halves: halfCache,
    seatsOf,
    memory,
    matrices,
    vectors,
    ...weights,
    cache,
    acts,
    logits,
    ...rows,
  };
}

/** Throws BackendError where the kernels have no way with these sizes. */
function checkSizes({ head_dim: D, hidden_size: d, intermediate_size: F }: ModelConfig): void {
  if (D <= MOST_HEAD && [D, d, F].every((size) => size % 4 === 0)) return;
  throw new BackendError(
    `The model has heads of ${D}, ${d} hidden and ${F} intermediate numbers. On a GPU all three must be multiples of four, and a head has at most ${MOST_HEAD}.`,
    'Use another model, or the CPU.',
  );
}

/** Throws BackendError where a layer's cache of so many places is more than `limit` bytes, with what would fit. */
function checkCache(placeBytes: number, places: number, { rows, length }: TextRoom, limit: number): void {
  if (places * placeBytes <= limit) return;
  const most = Math.floor(limit / placeBytes);
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
  const fewer = Math.floor(most / length);
  const shorter = Math.floor(most / rows);
  throw new BackendError(
    `The key-value cache of a layer needs ${mib(places * placeBytes)} MiB for ${rows} rows of ${length} tokens. This adapter allows ${mib(limit)} MiB.`,
    `Texts of ${shorter} tokens fit${fewer > 0 ? `, and so do ${fewer} rows of ${length}` : ''}.`,
  );
}

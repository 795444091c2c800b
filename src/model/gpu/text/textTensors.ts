import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { uniformOf } from '../../../gpu/kernel.ts';
import { sampleTokens } from '../../../gpu/kernels/index.ts';
import type { ModelConfig } from '../../architecture.ts';
import { BackendError } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { WeightSource } from '../../weightSource.ts';
import { declareMatrix, type Matrix } from '../matrices.ts';
import type { LayerWeights } from '../transformer.ts';

export interface TextCapacity {
  readonly rows: number; // B
  readonly length: number; // maximum tokens per row
  readonly cachedTokens?: number; // tokens in the key-value cache, shared ones counted once; default: B × length
  readonly float16Cache?: boolean; // false keeps keys and values in float32
  readonly bufferBytes?: number; // maximum buffer size of matrices and caches; default: the device's limit
  readonly prefill?: number; // tokens per pass that draws nothing, at least 128; default: 256
  readonly grammarStates?: number; // maximum states of a grammar; default: 2, to draw freely until a stop id
}

/** Maximum tokens per row drawn between two read-backs. */
export const MAX_CHUNK = 64;
/** Words per seat of `drawn`. */
export const DRAWN_WORDS = 1 + 3 * MAX_CHUNK;
/** Maximum number of likeliest tokens per call. */
export const MAX_LIKELIEST = 256;
/** Numbers of seats for which passes with logits are recorded. */
const HEAD_SEATS = [1, 4, 16, 64];
const DEFAULT_PREFILL = 256;
/** Layout of the sampler's settings. */
export const TEXT_SAMPLING = uniformOf(sampleTokens, 'settings');
/** Largest head for which paged_attention.wgsl has registers. */
const MAX_HEAD = 128;

/** A pass takes one token per seat, of any rows. M: maximum seats of a pass. S: maximum seats of a pass with logits. */
export interface TextTensors {
  readonly cachePlaces: number; // places in the cache; each holds the keys and values of one position
  readonly float16Cache: boolean; // the cache holds f16 numbers
  readonly seatCounts: { readonly withLogits: readonly number[]; readonly prefill: number }; // seats per pass
  readonly memory: readonly MemoryPart[];
  readonly matrices: readonly Matrix[]; // all matrices of the model
  readonly vectors: ReadonlyMap<Tensor, readonly string[]>; // norms, biases; names of each one's tensors, in order
  readonly embed: Matrix;
  readonly languageHead: Matrix;
  readonly layers: readonly LayerWeights[];
  readonly norm: Tensor;
  readonly cache: readonly Tensor[]; // per layer (places, 2·G·D), packed f16 or f32; see paged_heads.wgsl
  readonly rotary: Tensor; // (T, D/2, 2)
  readonly placeTable: Tensor; // (B,T) the place of each position
  readonly seats: Tensor; // (M, 4) per seat: token, position, row, tokens to draw
  readonly acts: Readonly<Record<Activation, Tensor>>;
  readonly logits: Tensor; // (S,V)
  readonly settings: Tensor; // TEXT_SAMPLING
  readonly legal: Tensor; // (grammar states, ⌈V/32⌉) one bit per token
  readonly stays: Tensor; // (grammar states, ⌈V/32⌉) one bit per token; see sample_tokens.wgsl
  readonly draws: Tensor; // (S, 4) per seat; see sample_tokens.wgsl
  readonly drawn: Tensor; // (S, DRAWN_WORDS)
  readonly likeliest: Tensor; // (S, 2·MAX_LIKELIEST)
  readonly targetTokens: Tensor; // (S)
  readonly targetLogprobs: Tensor; // (S)
}

/** Tensors that a pass writes, (M, …). xhat and inv are written by norms and not read again. */
type Activation = 'x' | 'xhat' | 'y' | 'inv' | 'qkv' | 'queries' | 'attended' | 'gateUp' | 'act';

/** `memory` lists sizes before anything is allocated. Throws BackendError on sizes without kernels, or too large a layer's cache. */
export function declareText(
  arena: Arena,
  gpu: Gpu,
  model: ModelConfig,
  source: WeightSource,
  capacity: TextCapacity,
): TextTensors {
  checkSizes(model);
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize, capacity.bufferBytes ?? Infinity);
  const {
    rows: B,
    length: T,
    cachedTokens: cachePlaces = B * T,
    float16Cache = true,
    prefill = DEFAULT_PREFILL,
    grammarStates = 2,
  } = capacity;
  const { hidden_size: d, intermediate_size: F, head_dim: D, num_key_value_heads: G, vocab_size: V } = model;
  const inner = model.num_attention_heads * D;
  const W = inner + 2 * G * D;
  const withLogits = HEAD_SEATS.slice(0, HEAD_SEATS.findIndex((seats) => seats >= Math.min(B, 64)) + 1);
  // scoring uses several seats per row
  if (withLogits.length < 3) withLogits.splice(0, withLogits.length, ...HEAD_SEATS.slice(0, 3));
  const S = withLogits.at(-1)!;
  const M = Math.max(S, prefill);
  const placeWords = (float16Cache ? 1 : 2) * G * D; // per layer
  checkCache(4 * placeWords, cachePlaces, capacity, limit);
  const memory: MemoryPart[] = [];
  const vectors = new Map<Tensor, readonly string[]>();
  const matrices: Matrix[] = [];
  const part = partsOf(arena, memory);
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
      const prefix = `model.layers.${i}`;
      const qkv = (suffix: string) => ['q', 'k', 'v'].map((name) => `${prefix}.self_attn.${name}_proj.${suffix}`);
      return {
        inputNorm: vector(d, `${prefix}.input_layernorm.weight`),
        qkv: matrix(...qkv('weight')),
        qkvBias: model.attention_bias ? vector(W, ...qkv('bias')) : null,
        headNorms: model.qk_norm
          ? vector(2 * D, `${prefix}.self_attn.q_norm.weight`, `${prefix}.self_attn.k_norm.weight`)
          : null,
        kNorm: D,
        output: matrix(`${prefix}.self_attn.o_proj.weight`),
        postNorm: vector(d, `${prefix}.post_attention_layernorm.weight`),
        gateUp: matrix(`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`),
        down: matrix(`${prefix}.mlp.down_proj.weight`),
      };
    });
    const norm = vector(d, 'model.norm.weight');
    return { embed, languageHead: model.tie_word_embeddings ? embed : matrix('lm_head.weight'), layers, norm };
  });
  const cache = part('key-value cache', () =>
    weights.layers.map((_, i) => arena.declare(`key-value cache ${i}`, [cachePlaces, placeWords])),
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
    placeTable: arena.declare('places', [B, T]),
    seats: arena.declare('seats', [M, 4]),
    settings: arena.declare('sampling', [TEXT_SAMPLING.fields.length], [], GPUBufferUsage.UNIFORM),
    legal: arena.declare('legal tokens', [grammarStates, Math.ceil(V / 32)]),
    stays: arena.declare('tokens that stay in their state', [grammarStates, Math.ceil(V / 32)]),
    draws: arena.declare('draws', [S, 4]),
    drawn: arena.declare('drawn', [S, DRAWN_WORDS]),
    likeliest: arena.declare('found', [S, 2 * MAX_LIKELIEST]),
    targetTokens: arena.declare('targets', [S]),
    targetLogprobs: arena.declare('scored', [S]),
  }));
  const seatCounts = { withLogits, prefill };
  return {
    cachePlaces,
    float16Cache,
    seatCounts,
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

/** Returns a function that calls `declare` and adds what it declares to `memory`, as a part of this purpose. */
export function partsOf(arena: Arena, memory: MemoryPart[]) {
  return <T>(purpose: string, declare: () => T): T => {
    const before = arena.bytes;
    const declared = declare();
    memory.push({ purpose, bytes: arena.bytes - before });
    return declared;
  };
}

/** Throws BackendError if the kernels don't support these sizes. */
function checkSizes({ head_dim: D, hidden_size: d, intermediate_size: F }: ModelConfig): void {
  if (D <= MAX_HEAD && [D, d, F].every((size) => size % 4 === 0)) return;
  throw new BackendError(
    `The model has heads of ${D}, ${d} hidden and ${F} intermediate numbers. On a GPU all three must be multiples of four, and a head has at most ${MAX_HEAD}.`,
    'Use another model, or the CPU.',
  );
}

/** Throws BackendError, which says what would fit, if a layer's cache of `places` places takes more than `limit` bytes. */
function checkCache(placeBytes: number, places: number, { rows, length }: TextCapacity, limit: number): void {
  if (places * placeBytes <= limit) return;
  const maxPlaces = Math.floor(limit / placeBytes);
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
  const maxRows = Math.floor(maxPlaces / length);
  const maxLength = Math.floor(maxPlaces / rows);
  throw new BackendError(
    `The key-value cache of a layer needs ${mib(places * placeBytes)} MiB for ${rows} rows of ${length} tokens. This adapter allows ${mib(limit)} MiB.`,
    `Texts of ${maxLength} tokens fit${maxRows > 0 ? `, and so do ${maxRows} rows of ${length}` : ''}.`,
  );
}

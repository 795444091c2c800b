import { submit, upload, type Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { Readback } from '../../gpu/readback.ts';
import { aligned, slice, write, type Arena, type Tensor } from '../../gpu/tensor.ts';
import type { DecodeChunk, DecodedChunk, PolicySpec, Sampling } from '../policy.ts';
import { declareActivations, qkvWidth, type Activations } from './activations.ts';
import type { DeviceBatch } from './batch.ts';
import { linear } from './layers.ts';
import { group } from './pools.ts';
import { recordBlocks, type Trunk } from './transformer.ts';

/** Tokens a row may advance in one chunk. */
const MAX_STEPS = 64;
const ROW_WORDS = 8; // of the row state: see decode_sample.wgsl
const NOTHING = 0xffffffff;

/** What a decoder keeps on the device. */
export interface DecoderTensors {
  readonly acts: Activations;
  readonly positions: Tensor; // (B)
  readonly cache: Tensor; // L × (2, B, T, G·D), padded to a slot
  readonly state: Tensor; // (B, 8) then (B, MAX_STEPS) forced ids
  readonly drawn: Tensor; // (B, 2·MAX_STEPS)
  readonly settings: Tensor; // (8)
}

/** Declares a decoder's tensors. */
export function declareDecoder(arena: Arena, { model, rows: B, length: T }: PolicySpec): DecoderTensors {
  const slot = aligned(2 * B * T * model.num_key_value_heads * model.head_dim);
  const knobs = ['prompts', 'groupSize', 'maxTurns', 'layers', 'width'];
  return {
    acts: declareActivations(arena, 'decode', model, B, false),
    positions: arena.declare('decode positions', [B]),
    cache: arena.declare('key-value cache', [model.num_hidden_layers * slot], knobs),
    state: arena.declare('row state', [B * (ROW_WORDS + MAX_STEPS)], knobs),
    drawn: arena.declare('drawn', [B, 2 * MAX_STEPS], knobs),
    settings: arena.declare('sampling', [8], [], GPUBufferUsage.UNIFORM),
  };
}

/**
 * Draws tokens with a key-value cache: one recorded plan advances every row by one token, and a chunk replays it `steps`
 * times in one submit. Rows stand at positions of their own; a row that is done waits.
 */
export class Decoder {
  private readonly gpu: Gpu;
  private readonly tensors: DecoderTensors;
  private readonly plan: Plan;
  private readonly start: Plan;
  private readonly readback: Readback;
  private readonly spec: PolicySpec;
  private readonly lengths: Int32Array; // (B) tokens each row has
  private readonly words: Uint32Array;
  private fresh = true;
  private sampling: Sampling | null = null;
  private states = 1;

  constructor(
    recorder: Recorder,
    trunk: Trunk,
    spec: PolicySpec,
    weights: Tensor,
    batch: DeviceBatch,
    tensors: DecoderTensors,
  ) {
    const { rows: B, length: T, model: m } = spec;
    this.gpu = recorder.gpu;
    this.spec = spec;
    this.tensors = tensors;
    this.lengths = new Int32Array(B);
    this.words = new Uint32Array(B * (ROW_WORDS + MAX_STEPS));
    const { acts, positions, cache, state, drawn, settings } = tensors;
    const C = m.hidden_size;
    const V = m.vocab_size;
    const embed = group(weights, trunk.layout, 'model.embed_tokens.weight', [V, C]);
    const slot = aligned(2 * B * T * m.num_key_value_heads * m.head_dim);
    const plan = new Plan(recorder, 'decode');
    plan.dispatch(
      kernels.decodeEmbedding,
      { state, record: batch.record, table: embed, x: acts.x, positions },
      { B, C, T },
    );
    recordBlocks(plan, trunk, weights, acts, positions, (layer) => {
      plan.dispatch(
        kernels.decodeAttention,
        {
          qkv: acts.qkv.at(layer),
          positions,
          cache: slice(cache, `cache ${layer}`, layer * slot, [slot]),
          out: acts.attended.at(layer),
        },
        { B, T, H: m.num_attention_heads, G: m.num_key_value_heads, D: m.head_dim, W: qkvWidth(m) },
        { HEAD: m.head_dim },
      );
    });
    const head = m.tie_word_embeddings ? embed : group(weights, trunk.layout, 'lm_head.weight', [V, C]);
    linear(plan, trunk.variant, acts.y.at(0), head, acts.logits, { N: B, K: C, M: V });
    plan.dispatch(
      kernels.decodeSample,
      {
        logits: acts.logits,
        grammar: batch.grammar,
        state,
        record: batch.record,
        drawn,
        sampled: batch.sampled,
        settings,
      },
      { B, V, T },
    );
    this.plan = plan;
    this.start = new Plan(recorder, 'decode start');
    this.start.clear(batch.record);
    this.start.clear(batch.sampled);
    this.readback = new Readback(recorder.gpu, 'decoded chunk', [slice(state, 'row state', 0, [B, ROW_WORDS]), drawn]);
  }

  /** Empties all rows; `states` is the number of grammar states. */
  begin(sampling: Sampling, states: number): void {
    this.sampling = sampling;
    this.states = states;
    this.lengths.fill(0);
    this.fresh = true;
  }

  async decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    const { rows: B } = this.spec;
    const sampling = this.sampling;
    if (!sampling) throw new Error('decode: called before begin(). Call begin() with how to sample.');
    if (chunk.steps < 1 || chunk.steps > MAX_STEPS)
      throw new RangeError(`decode: ${chunk.steps} steps; want 1 to ${MAX_STEPS}.`);
    this.uploadChunk(chunk, sampling);
    submit(this.gpu, (encoder) => {
      if (this.fresh) this.start.encode(encoder);
      this.plan.encode(encoder, chunk.steps);
      this.readback.encode(encoder);
    });
    this.fresh = false;
    const [state, drawn] = (await this.readback.read()) as [Uint32Array, Uint32Array<ArrayBuffer>];
    const logprobBits = new Float32Array(drawn.buffer, drawn.byteOffset, drawn.length);
    const counts = new Int32Array(B);
    const tokens = new Int32Array(B * chunk.steps);
    const logprobs = new Float32Array(B * chunk.steps);
    for (let b = 0; b < B; b++) {
      this.lengths[b] = state[b * ROW_WORDS]!;
      const n = state[b * ROW_WORDS + 6]!;
      counts[b] = n;
      for (let i = 0; i < n; i++) {
        tokens[b * chunk.steps + i] = drawn[b * 2 * MAX_STEPS + i]!;
        logprobs[b * chunk.steps + i] = logprobBits[b * 2 * MAX_STEPS + MAX_STEPS + i]!;
      }
    }
    return { counts, tokens, logprobs };
  }

  private uploadChunk(chunk: DecodeChunk, sampling: Sampling): void {
    const { rows: B } = this.spec;
    const words = this.words;
    words.fill(0);
    for (let b = 0; b < B; b++) {
      const at = b * ROW_WORDS;
      const state = chunk.states[b]!;
      words[at] = this.lengths[b]!;
      words[at + 1] = state < 0 ? NOTHING : state;
      words[at + 2] = chunk.forcedCounts[b]!;
      words[at + 3] = chunk.forcedRoles[b]!;
      words[at + 4] = chunk.budgets[b]!;
    }
    words.set(chunk.forced, B * ROW_WORDS);
    write(this.gpu, this.tensors.state, words.subarray(0, B * (ROW_WORDS + chunk.steps)));
    const settings = new Uint32Array(8);
    settings.set([sampling.key, sampling.update, chunk.steps, sampling.greedy ? 1 : 0, sampling.topK, this.states]);
    new Float32Array(settings.buffer).set([sampling.temperature, sampling.topP], 6);
    upload(this.gpu, this.tensors.settings.buffer, 0, settings);
  }

  /** All it replays. */
  get plans(): readonly Plan[] {
    return [this.start, this.plan];
  }

  /** Dispatches and FLOPs of one token for every row. */
  get recorded() {
    const { dispatches, flops } = this.plan;
    return { dispatches, flops };
  }

  destroy(): void {
    this.readback.destroy();
  }
}

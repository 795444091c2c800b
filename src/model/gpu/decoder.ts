import { submit, type Gpu } from '../../gpu/device.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { Readback } from '../../gpu/readback.ts';
import { slice, write, type Tensor } from '../../gpu/tensor.ts';
import { uniformWords } from '../../gpu/uniform.ts';
import { cuts, type DecodeChunk, type DecodedChunk, type DrawCounters, type Sampling } from '../decoding.ts';
import type { PolicySpec } from '../policy.ts';
import type { Activations } from './activations.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { MAX_STEPS, ROW_SAMPLING, ROW_WORDS, type DecoderTensors } from './decoderTensors.ts';
import { Prefill } from './prefill.ts';
import { drawsOf, planFor, rowOrder, slotCounts } from './slots.ts';
import { type Trunk, recordBlocks } from './transformer.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { layerCache, recordDecodeAttention } from './decodeAttention.ts';
import { recordFinalNorm } from './finalNorm.ts';
import { group } from './pools.ts';

const DRAW_NOTHING = 0xffffffff; // a grammar state

/**
 * Draws tokens with a key-value cache, one submit per chunk. First all forced tokens are cached at once. Then a
 * recorded plan, which advances rows by one token, is replayed as often as any row may draw. Each row has its own
 * position. For each chunk the rows are sorted into slots, drawing rows first, so that a plan for fewer slots is enough
 * when many rows are done. A row that is done waits for the end of the chunk.
 */
export class Decoder {
  private readonly gpu: Gpu;
  private readonly tensors: DecoderTensors;
  private readonly steps: ReadonlyMap<number, Plan>; // by slots, ascending
  private readonly prefill: Prefill;
  private readonly start: Plan;
  private readonly readback: Readback; // row states, tokens and log-probabilities
  private readonly cutReadback: Readback; // these, and the probability that top-k and top-p keep
  private readonly spec: PolicySpec;
  private readonly lengths: Int32Array; // (B) number of tokens in each row
  private readonly lastTokens: Int32Array; // (B)
  private readonly words: Uint32Array; // row states to upload
  private counters: DrawCounters[] = []; // (B)
  private fresh = true; // the batch must be emptied before the next chunk
  private sampling: Sampling | null = null;
  private states = 1;

  constructor(
    recorder: Recorder,
    trunk: Trunk,
    spec: PolicySpec,
    weights: Tensor,
    batch: DeviceBatch,
    tensors: DecoderTensors,
    acts: Activations,
  ) {
    const { rows: B } = spec;
    this.gpu = recorder.gpu;
    this.spec = spec;
    this.tensors = tensors;
    this.lengths = new Int32Array(B);
    this.lastTokens = new Int32Array(B);
    this.words = new Uint32Array(B * ROW_WORDS);
    this.prefill = new Prefill(recorder, trunk, spec, weights, batch, tensors, acts);
    this.steps = new Map(slotCounts(B).map((N) => [N, recordStep(recorder, trunk, spec, weights, batch, tensors, N)]));
    this.start = new Plan(recorder, 'decode start');
    this.start.clear(batch.record);
    this.start.clear(batch.sampled);
    const { state, drawn } = tensors;
    this.readback = new Readback(recorder.gpu, 'decoded chunk', [state, slice(drawn, 'drawn', 0, [B, 2 * MAX_STEPS])]);
    this.cutReadback = new Readback(recorder.gpu, 'decoded chunk, cut', [state, drawn]);
  }

  /** Empties all rows; `states` is the number of grammar states. */
  begin(sampling: Sampling, states: number): void {
    this.sampling = sampling;
    this.states = states;
    this.lengths.fill(0);
    this.counters = Array.from(this.lengths, (_, rollout) => ({ update: sampling.update, rollout }));
    this.fresh = true;
  }

  /** Restarts one row; see `Policy`. */
  beginRow(row: number, counters: DrawCounters): void {
    this.lengths[row] = 0;
    this.counters[row] = counters;
  }

  async decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    const { rows: B } = this.spec;
    const sampling = this.sampling;
    if (!sampling) throw new Error('decode: called before begin(). Call begin() with how to sample.');
    if (chunk.steps < 1 || chunk.steps > MAX_STEPS)
      throw new RangeError(`decode: ${chunk.steps} steps can’t be drawn at once. Ask for 1 to ${MAX_STEPS}.`);
    const draws = drawsOf(chunk);
    const cut = cuts(sampling);
    const readback = cut ? this.cutReadback : this.readback;
    const { rows, working } = rowOrder(B, (b) => draws[b]! > 0);
    const plan = planFor(this.steps, working);
    this.prefill.load(chunk, this.lengths, this.lastTokens);
    this.uploadChunk(chunk, draws, sampling, rows);
    submit(this.gpu, (encoder) => {
      if (this.fresh) this.start.encode(encoder);
      this.prefill.encode(encoder);
      plan.encode(encoder, Math.max(...draws));
      readback.encode(encoder);
    });
    this.fresh = false;
    const [state, drawn] = (await readback.read()) as [Uint32Array, Uint32Array<ArrayBuffer>];
    const logprobBits = new Float32Array(drawn.buffer, drawn.byteOffset, drawn.length);
    const counts = new Int32Array(B);
    const tokens = new Int32Array(B * chunk.steps);
    const logprobs = new Float32Array(B * chunk.steps);
    const logMass = cut ? new Float32Array(B * chunk.steps) : null;
    for (const [slot, b] of rows.entries()) {
      const forced = chunk.forcedCounts[b]!;
      if (forced > 0) this.lastTokens[b] = chunk.forced[b * chunk.steps + forced - 1]!;
      const from = this.lengths[b]! + forced;
      const to = state[slot * ROW_WORDS]!;
      this.lengths[b] = to;
      counts[b] = to - from;
      for (let position = from; position < to; position++) {
        const at = slot * 2 * MAX_STEPS + (position % MAX_STEPS);
        const into = b * chunk.steps + position - from;
        this.lastTokens[b] = drawn[at]!;
        tokens[into] = drawn[at]!;
        logprobs[into] = logprobBits[at + MAX_STEPS]!;
        if (logMass) logMass[into] = logprobBits[(2 * B + slot) * MAX_STEPS + (position % MAX_STEPS)]!;
      }
    }
    return { counts, tokens, logprobs, ...(logMass && { logMass }) };
  }

  /** Uploads row states and sampling settings. @param rows the row in each slot */
  private uploadChunk(chunk: DecodeChunk, draws: Int32Array, sampling: Sampling, rows: readonly number[]): void {
    const words = this.words;
    words.fill(0);
    for (const [slot, b] of rows.entries()) {
      const at = slot * ROW_WORDS;
      const state = chunk.states[b]!;
      const length = this.lengths[b]! + chunk.forcedCounts[b]!;
      words[at] = length;
      words[at + 1] = state < 0 ? DRAW_NOTHING : state;
      words[at + 2] = this.counters[b]!.update;
      words[at + 3] = this.counters[b]!.rollout;
      words[at + 4] = Math.min(this.spec.length, length + draws[b]!);
      words[at + 7] = b;
    }
    write(this.gpu, this.tensors.state, words);
    const { key, greedy, topK, temperature, topP } = sampling;
    const drawing = { key, greedy: greedy ? 1 : 0, top_k: topK, temperature, top_p: topP };
    write(this.gpu, this.tensors.settings, uniformWords(ROW_SAMPLING, { ...drawing, states: this.states }));
  }

  /** All plans that it replays. */
  get plans(): readonly Plan[] {
    return [this.start, ...this.prefill.plans, ...this.steps.values()];
  }

  /** Dispatches and FLOPs of drawing one token in every row. */
  get recorded() {
    const { dispatches, flops } = this.steps.get(this.spec.rows)!;
    return { dispatches, flops };
  }

  destroy(): void {
    this.readback.destroy();
    this.cutReadback.destroy();
  }
}

/** Records the plan that advances the first N slots by one token. */
function recordStep(
  recorder: Recorder,
  trunk: Trunk,
  spec: PolicySpec,
  weights: Tensor,
  batch: DeviceBatch,
  { acts: all, positions, cache, state, drawn, settings }: DecoderTensors,
  N: number,
): Plan {
  const { rows: B, length: T, model: m } = spec;
  const C = m.hidden_size;
  const V = m.vocab_size;
  const acts = { ...all, N };
  const table = group(weights, trunk.layout, 'model.embed_tokens.weight', [V, C]);
  const plan = new Plan(recorder, `decode ${N} rows`);
  plan.dispatch(kernels.decodeEmbedding, { state, record: batch.record, table, x: acts.x, positions }, { N, B, C, T });
  recordBlocks(plan, trunk, weights, acts, positions, (layer) => {
    const layerKeysValues = layerCache(cache, spec, layer);
    const tensors = { qkv: acts.qkv.at(layer), positions, cache: layerKeysValues, out: acts.attended.at(layer) };
    recordDecodeAttention(plan, spec, tensors, { N, slots: B, appends: true });
  });
  recordFinalNorm(plan, trunk, weights, acts, { language: true, value: false });
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
    { N, B, V, T },
  );
  return plan;
}

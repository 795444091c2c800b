import { submit, type Gpu } from '../../gpu/device.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { Readback } from '../../gpu/readback.ts';
import { slice, write } from '../../gpu/tensor.ts';
import { uniformWords } from '../../gpu/uniform.ts';
import { usesTopKOrTopP, type DecodeChunk, type DecodedChunk, type DrawCounters, type Sampling } from '../decoding.ts';
import { lastContext, lastStart, type ContextRows } from '../contexts.ts';
import { commonLength } from '../sharedBeginnings.ts';
import type { PolicySpec } from '../policy.ts';
import { type AgentNetwork, recordOutput } from './agentNetwork.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { MAX_STEPS, ROW_SAMPLING, ROW_WORDS, type DecoderTensors, type StepTensors } from './decoderTensors.ts';
import { drawsOf, planFor, rowOrder, slotCounts } from './slots.ts';
import { recordLayer } from './transformer.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { layerCache, recordDecodeAttention } from './decodeAttention.ts';
import { recordTurn, turnSpan } from './turnPlan.ts';

const DRAW_NOTHING = 0xffffffff; // a grammar state

/**
 * Draws tokens with a key-value cache, one submit per chunk. A recorded plan, which moves rows on, is replayed until no
 * row has forced tokens to cache or may draw. The plan is one dispatch, which takes rows through their turns (see
 * `drawsTurns`), or a dispatch for each operation on one token of each row. Each row has its own position. For each
 * chunk the rows are sorted into slots, rows with work first, so that a plan for fewer slots is enough when many rows
 * are done. A row that is done waits for the end of the chunk.
 */
export class Decoder {
  private readonly gpu: Gpu;
  private readonly tensors: DecoderTensors;
  private readonly steps: ReadonlyMap<number, Plan>; // by slots, ascending
  private readonly span: number; // tokens by which a plan moves a row on
  private readonly clearPlan: Plan;
  private readonly readback: Readback; // row states, tokens and log-probabilities
  private readonly readbackWithMass: Readback; // these, and the probability that top-k and top-p keep
  private readonly spec: PolicySpec;
  private readonly rowStateWords: Uint32Array; // row states to upload
  private readonly forcedWords: Uint32Array; // forced tokens to upload
  private counters: DrawCounters[] = []; // (B)
  private mustClear = true; // the batch must be emptied before the next chunk
  private sampling: Sampling | null = null;
  private grammarStates = 1;

  constructor(
    recorder: Recorder,
    network: AgentNetwork,
    spec: PolicySpec,
    batch: DeviceBatch,
    tensors: DecoderTensors,
  ) {
    const { rows: B } = spec;
    const { step, rowStates, drawn } = tensors;
    this.gpu = recorder.gpu;
    this.spec = spec;
    this.tensors = tensors;
    this.rowStateWords = new Uint32Array(B * ROW_WORDS);
    this.forcedWords = new Uint32Array(B * MAX_STEPS);
    this.span = step ? 1 : turnSpan(recorder.gpu);
    this.steps = new Map(
      step
        ? slotCounts(B).map((N) => [N, recordStep(recorder, network, spec, batch, tensors, step, N)])
        : [[B, recordTurn(recorder, network, spec, batch, tensors)]],
    );
    this.clearPlan = new Plan(recorder, 'decode start');
    this.clearPlan.clear(batch.record);
    this.readback = new Readback(recorder.gpu, 'decoded chunk', [
      rowStates,
      slice(drawn, 'drawn', 0, [2, B, MAX_STEPS]),
    ]);
    this.readbackWithMass = new Readback(recorder.gpu, 'decoded chunk, cut', [rowStates, drawn]);
  }

  /** Empties all rows; `states` is the number of grammar states. */
  begin(sampling: Sampling, states: number): void {
    this.sampling = sampling;
    this.grammarStates = states;
    this.counters = Array.from({ length: this.spec.rows }, (_, rollout) => ({ update: sampling.update, rollout }));
    this.mustClear = true;
  }

  beginRow(row: number, counters: DrawCounters): void {
    this.counters[row] = counters;
  }

  /** `batch` has the tokens of all rows, with the forced ones of this chunk. */
  async decode(chunk: DecodeChunk, batch: ContextRows): Promise<DecodedChunk> {
    const { rows: B } = this.spec;
    const sampling = this.sampling;
    if (!sampling) throw new Error('decode: called before begin(). Call begin() with how to sample.');
    if (chunk.maxTokens < 1 || chunk.maxTokens > MAX_STEPS)
      throw new RangeError(`decode: ${chunk.maxTokens} steps can’t be drawn at once. Ask for 1 to ${MAX_STEPS}.`);
    const draws = drawsOf(chunk);
    const truncates = usesTopKOrTopP(sampling);
    const readback = truncates ? this.readbackWithMass : this.readback;
    const work = this.firstInWork(chunk, batch);
    const moves = this.moves(chunk, batch.lengths, draws, work);
    const { rows, working } = rowOrder(B, (b) => moves[b]! > 0);
    const plan = planFor(this.steps, working);
    this.uploadChunk(chunk, batch, draws, sampling, rows, work);
    submit(this.gpu, (encoder) => {
      if (this.mustClear) this.clearPlan.encode(encoder);
      plan.encode(encoder, Math.ceil(Math.max(...moves) / this.span));
      readback.encode(encoder);
    });
    this.mustClear = false;
    const [state, drawn] = (await readback.read()) as [Uint32Array, Uint32Array<ArrayBuffer>];
    const logprobBits = new Float32Array(drawn.buffer, drawn.byteOffset, drawn.length);
    const counts = new Int32Array(B);
    const tokens = new Int32Array(B * chunk.maxTokens);
    const logprobs = new Float32Array(B * chunk.maxTokens);
    const logMass = truncates ? new Float32Array(B * chunk.maxTokens) : null;
    for (const [slot, b] of rows.entries()) {
      const firstPosition = batch.lengths[b]!;
      const [endPosition = 0, grammarState, , , limit = 0, position = 0] = state.subarray(slot * ROW_WORDS);
      // software drivers are known to end a kernel's loops early, without an error
      if (position + 1 < endPosition || (grammarState !== DRAW_NOTHING && endPosition < limit))
        throw new Error(`decode: the device left row ${b} at token ${endPosition} of ${limit}. Use the CPU backend.`);
      counts[b] = endPosition - firstPosition;
      for (let position = firstPosition; position < endPosition; position++) {
        const drawnIndex = slot * MAX_STEPS + (position % MAX_STEPS);
        const outputIndex = b * chunk.maxTokens + position - firstPosition;
        tokens[outputIndex] = drawn[drawnIndex]!;
        logprobs[outputIndex] = logprobBits[B * MAX_STEPS + drawnIndex]!;
        if (logMass) logMass[outputIndex] = logprobBits[2 * B * MAX_STEPS + drawnIndex]!;
      }
    }
    return { counts, tokens, logprobs, ...(logMass && { logMass }) };
  }

  /**
   * The first token of each row to pass through the layers: the last one of an earlier chunk. In a context that starts with
   * this chunk, it's the first one that the row's cache doesn't hold: what the context before began with too stays there.
   */
  private firstInWork({ restarts, forcedCounts }: DecodeChunk, batch: ContextRows): Int32Array {
    return forcedCounts.map((forced, b) => {
      const length = batch.lengths[b]! - forced;
      if (restarts?.[b] !== 1) return Math.max(0, length - 1);
      if (forced === 0)
        throw new Error(`decode: a context of row ${b} would start without a token; force at least one.`);
      const at = b * batch.length;
      const start = length === 0 ? 0 : batch.contextStarts[at + length - 1]!;
      const text = lastContext(batch, b);
      const cached = batch.tokens.subarray(at + start, at + Math.max(start, length - 1));
      return length + Math.min(commonLength(cached, text), text.length - 1);
    });
  }

  /**
   * Number of tokens of each row to pass through the layers. The row's last token is left to the next chunk. A row whose
   * context gets its first token has work in any case, because the token must be recorded.
   */
  private moves({ forcedCounts }: DecodeChunk, lengths: Int32Array, draws: Int32Array, work: Int32Array): Int32Array {
    return draws.map((drawn, b) =>
      forcedCounts[b]! + drawn === 0 ? 0 : Math.max(1, lengths[b]! + drawn - 1 - work[b]!),
    );
  }

  /** Uploads row states, forced tokens and sampling settings. @param rows the row in each slot @param work see `firstInWork` */
  private uploadChunk(
    chunk: DecodeChunk,
    batch: ContextRows,
    draws: Int32Array,
    sampling: Sampling,
    rows: readonly number[],
    work: Int32Array,
  ): void {
    const words = this.rowStateWords;
    const forcedTokens = this.forcedWords;
    words.fill(0);
    for (const [slot, b] of rows.entries()) {
      const rowStart = slot * ROW_WORDS;
      const state = chunk.states[b]!;
      const forced = chunk.forcedCounts[b]!;
      const length = batch.lengths[b]!;
      for (let i = 0; i < forced; i++)
        forcedTokens[slot * MAX_STEPS + ((length - forced + i) % MAX_STEPS)] = chunk.forced[b * chunk.maxTokens + i]!;
      words[rowStart] = length;
      words[rowStart + 1] = state < 0 ? DRAW_NOTHING : state;
      words[rowStart + 2] = this.counters[b]!.update;
      words[rowStart + 3] = this.counters[b]!.rollout;
      words[rowStart + 4] = Math.min(this.spec.length, length + draws[b]!);
      words[rowStart + 5] = work[b]!;
      words[rowStart + 6] = forced | (chunk.forcedRoles[b]! << 16);
      words[rowStart + 7] = b | (lastStart(batch, b) << 16);
    }
    write(this.gpu, this.tensors.rowStates, words);
    write(this.gpu, this.tensors.drawn, forcedTokens);
    const { key, greedy, topK, temperature, topP } = sampling;
    const samplingValues = { key, greedy: greedy ? 1 : 0, top_k: topK, temperature, top_p: topP };
    write(
      this.gpu,
      this.tensors.settings,
      uniformWords(ROW_SAMPLING, { ...samplingValues, states: this.grammarStates }),
    );
  }

  get plans(): readonly Plan[] {
    return [this.clearPlan, ...this.steps.values()];
  }

  /** FLOPs of one token in every row, and the dispatches that move every row on by up to `span` tokens. */
  get stepCost() {
    const { dispatchCount, flops } = this.steps.get(this.spec.rows)!;
    return { dispatches: dispatchCount, flops: flops / this.span, span: this.span };
  }

  destroy(): void {
    this.readback.destroy();
    this.readbackWithMass.destroy();
  }
}

/** Records the plan that advances the first N slots by one token. */
function recordStep(
  recorder: Recorder,
  network: AgentNetwork,
  spec: PolicySpec,
  batch: DeviceBatch,
  { positions, cache, rowStates, drawn, settings }: DecoderTensors,
  { logits, ...tokens }: StepTensors,
  N: number,
): Plan {
  const { rows: B, length: T, model: m } = spec;
  const acts = { ...tokens.acts, N };
  const C = m.hidden_size;
  const V = m.vocab_size;
  const plan = new Plan(recorder, `decode ${N} rows`);
  plan.dispatch(
    kernels.decodeEmbedding,
    { state: rowStates, drawn, table: network.table, record: batch.record, x: acts.x, positions },
    { N, B, C, T },
  );
  const attend = (_: Plan, layer: number) => {
    const tensors = { qkv: acts.qkv.at(layer), positions, cache: layerCache(cache, spec, layer), out: acts.attended.at(layer) }; // prettier-ignore
    recordDecodeAttention(plan, spec, tensors, N);
  };
  for (const layer of network.layers.keys()) recordLayer(plan, network, acts, { positions, attend }, layer);
  recordOutput(plan, network, acts, logits, { language: true, value: false });
  plan.dispatch(
    kernels.decodeSample,
    {
      logits,
      grammar: batch.grammar,
      state: rowStates,
      record: batch.record,
      drawn,
      settings,
    },
    { N, B, V, T },
  );
  return plan;
}

import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { write, type Tensor } from '../../gpu/tensor.ts';
import type { DecodeChunk } from '../decoding.ts';
import type { PolicySpec } from '../policy.ts';
import type { Activations } from './activations.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { layerCache, recordDecodeAttention } from './decodeAttention.ts';
import type { DecoderTensors } from './decoderTensors.ts';
import { groupTensor } from './networkTensors.ts';
import { planFor, slotCounts } from './slots.ts';
import { recordBlocks, type NetworkSpec } from './transformer.ts';

const EMPTY_SEAT = 0xffffffff; // row number of an unused seat

/** A seat of a prefill batch: one forced token. Its keys and values are cached, or it is only written into the record. */
interface Seat {
  readonly row: number;
  readonly position: number;
  readonly word: number; // token | role << 16; role 0 if the record has the token already
}

/** First the tokens to cache, by position, then the tokens only to record. `cached` counts the first kind. */
export function prefillTokens(chunk: DecodeChunk, lengths: Int32Array, lastTokens: Int32Array) {
  const cached: Seat[] = [];
  const recorded: Seat[] = [];
  for (const [row, count] of chunk.forcedCounts.entries()) {
    const length = lengths[row]!;
    if (count > 0 && length > 0) cached.push({ row, position: length - 1, word: lastTokens[row]! });
    for (let i = 0; i < count; i++) {
      const word = chunk.forced[row * chunk.maxTokens + i]! | (chunk.forcedRoles[row]! << 16);
      // the first draw caches a row's last forced token
      (i < count - 1 ? cached : recorded).push({ row, position: length + i, word });
    }
  }
  return { seats: [...cached.sort((a, b) => a.position - b.position), ...recorded], cached: cached.length };
}

/** Records forced tokens and caches their keys and values: up to P tokens, of any rows, together, earlier positions first. */
export class Prefill {
  private readonly recorder: Recorder;
  private readonly queue: Tensor;
  private readonly seatsPerBatch: number; // P, seats per batch
  private readonly seatCopies: readonly Plan[];
  private readonly embeddings: ReadonlyMap<number, Plan>; // by number of seats, ascending
  private readonly blocks: ReadonlyMap<number, Plan>;
  private batches: readonly { readonly used: number; readonly cached: number }[] = []; // numbers of seats

  constructor(
    recorder: Recorder,
    network: NetworkSpec,
    spec: PolicySpec,
    weights: Tensor,
    batch: DeviceBatch,
    { cache, prefillSeats, prefillQueue }: DecoderTensors,
    acts: Activations,
  ) {
    const { rows: B, length: T, model: m } = spec;
    const P = prefillSeats.shape[1]!;
    const C = m.hidden_size;
    this.recorder = recorder;
    this.queue = prefillQueue;
    this.seatsPerBatch = P;
    const table = groupTensor(weights, network.layout, 'model.embed_tokens.weight', [m.vocab_size, C]);
    this.seatCopies = Array.from({ length: prefillQueue.shape[0]! }, (_, k) => {
      const plan = new Plan(recorder, 'prefill seats');
      plan.copy(prefillQueue, 3 * P * k, prefillSeats);
      return plan;
    });
    const E = m.num_key_value_heads * m.head_dim;
    const embed = (N: number) => {
      const plan = new Plan(recorder, `prefill ${N} embeddings`);
      plan.dispatch(
        kernels.decodePrefill,
        { seats: prefillSeats, table, record: batch.record, x: acts.x },
        { N, P, C, T },
      );
      return plan;
    };
    const record = (N: number) => {
      const plan = new Plan(recorder, `prefill ${N} tokens`);
      const attend = (layer: number) => {
        const attentionTensors = { qkv: acts.qkv.at(layer), positions: prefillSeats, out: acts.attended.at(layer) };
        const dims = { N, P, B, T, Q: m.num_attention_heads * m.head_dim, E };
        const layerKeysValues = layerCache(cache, spec, layer);
        plan.dispatch(
          kernels.decodeAppend,
          { qkv: attentionTensors.qkv, seats: prefillSeats, cache: layerKeysValues },
          dims,
        );
        // the last layer only has to cache keys and values, because forced tokens need no logits
        if (layer === m.num_hidden_layers - 1) return;
        recordDecodeAttention(
          plan,
          spec,
          { ...attentionTensors, cache: layerKeysValues },
          { N, slots: P, appends: false },
        );
      };
      recordBlocks(plan, network, weights, { ...acts, N, keepsForBackward: false }, prefillSeats, attend, true);
      return plan;
    };
    this.embeddings = new Map(slotCounts(P).map((N) => [N, embed(N)]));
    this.blocks = new Map(slotCounts(P).map((N) => [N, record(N)]));
  }

  /** Uploads a chunk's forced tokens. `lengths` has each row's number of tokens so far, `lastTokens` its last token. */
  load(chunk: DecodeChunk, lengths: Int32Array, lastTokens: Int32Array): void {
    const { seats, cached } = prefillTokens(chunk, lengths, lastTokens);
    const P = this.seatsPerBatch;
    const count = Math.ceil(seats.length / P);
    const inBatch = (seats: number, k: number) => Math.min(P, Math.max(0, seats - k * P));
    this.batches = Array.from({ length: count }, (_, k) => ({
      used: inBatch(seats.length, k),
      cached: inBatch(cached, k),
    }));
    if (count === 0) return;
    const words = new Uint32Array(count * 3 * P);
    for (let k = 0; k < count; k++) words.fill(EMPTY_SEAT, (3 * k + 1) * P, (3 * k + 2) * P);
    for (const [i, { row, position, word }] of seats.entries()) {
      const index = Math.floor(i / P) * 3 * P + (i % P);
      words[index] = position;
      words[index + P] = row;
      words[index + 2 * P] = word;
    }
    write(this.recorder.gpu, this.queue, words);
  }

  encode(encoder: GPUCommandEncoder): void {
    for (const [k, { used, cached }] of this.batches.entries()) {
      this.seatCopies[k]?.encode(encoder);
      planFor(this.embeddings, used).encode(encoder);
      if (cached > 0) planFor(this.blocks, cached).encode(encoder);
    }
  }

  get plans(): readonly Plan[] {
    return [...this.seatCopies, ...this.embeddings.values(), ...this.blocks.values()];
  }
}

import { causeOf, isLost, DeviceLostError, submit, type Gpu } from '../../../gpu/device.ts';
import { Readback } from '../../../gpu/readback.ts';
import { slice, write, type Tensor } from '../../../gpu/tensor.ts';
import { uniformWords } from '../../../gpu/uniform.ts';
import type { Sampling } from '../../decoding.ts';
import { passFor, type Pass } from './passes.ts';
import { CHUNK_TOKENS, MAX_LIKELIEST, TEXT_SAMPLING, type TextTensors } from './textTensors.ts';

/** A token for a seat of a pass: the network computes its keys and values. */
export interface SeatToken {
  readonly token: number;
  readonly position: number;
  readonly row: number;
  readonly toDraw: number; // tokens to draw after it
}

const EMPTY_SEAT = 0xffffffff;
const SEAT_WORDS = 4;

/** Uploads tokens into seats, submits passes over them and reads back the results. */
export class Runner {
  readonly #gpu: Gpu;
  readonly #tensors: TextTensors;
  readonly #passes: readonly Pass[];
  readonly #readbacks: ReadonlyMap<Tensor, Readback>;
  readonly #logits = new Map<number, Readback>(); // by the pass's number of seats, created on first use

  constructor(gpu: Gpu, tensors: TextTensors, passes: readonly Pass[]) {
    this.#gpu = gpu;
    this.#tensors = tensors;
    this.#passes = passes;
    const { drawn, likeliest, targetLogprobs } = tensors;
    this.#readbacks = new Map(
      [drawn, likeliest, targetLogprobs].map((tensor) => [tensor, new Readback(gpu, tensor.name, [tensor])]),
    );
  }

  /** Maximum seats of a pass that computes logits. */
  get maxLogitSeats(): number {
    return this.#tensors.seatCounts.withLogits.at(-1)!;
  }

  /** Computes and caches keys and values of these tokens, in order. Resolves when the device is done. */
  async prefill(seats: readonly SeatToken[]): Promise<void> {
    const maxSeats = this.#tensors.seatCounts.prefill;
    for (let at = 0; at < seats.length; at += maxSeats) {
      const chunk = seats.slice(at, at + maxSeats);
      const pass = this.#fill(chunk);
      submit(this.#gpu, (encoder) => pass.blocks.encode(encoder));
    }
    if (seats.length === 0) return;
    await this.#gpu.device.queue.onSubmittedWorkDone();
    if (await isLost(this.#gpu.lost)) throw new DeviceLostError(await this.#gpu.lost);
  }

  /** Draws up to `steps` tokens for each seat. Returns ids and log-probabilities by seat. */
  async draw(seats: readonly SeatToken[], steps: number) {
    const { drawn } = this.#tensors;
    const pass = this.#fill(seats);
    const words = await this.#read(drawn, (encoder) => {
      encoder.clearBuffer(drawn.buffer);
      for (let step = 0; step < steps; step++) {
        encodeLogits(pass, encoder);
        pass.sample.encode(encoder);
      }
    });
    const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    return seats.map((_, seat) => {
      const at = seat * (1 + 2 * CHUNK_TOKENS);
      const [ids, logprobs] = [at + 1, at + 1 + CHUNK_TOKENS];
      const count = words[at]!;
      return {
        ids: [...words.subarray(ids, ids + count)],
        logprobs: [...floats.subarray(logprobs, logprobs + count)],
      };
    });
  }

  /** The `count` likeliest tokens after each seat's token, with log-probabilities. */
  async likeliest(seats: readonly SeatToken[], count: number) {
    const pass = this.#fill(seats);
    const words = await this.#read(this.#tensors.likeliest, (encoder) => {
      encodeLogits(pass, encoder);
      pass.likeliest.encode(encoder);
    });
    const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    return seats.map((_, seat) => {
      const at = seat * 2 * MAX_LIKELIEST;
      return {
        ids: [...words.subarray(at, at + count)],
        logprobs: [...floats.subarray(at + MAX_LIKELIEST, at + MAX_LIKELIEST + count)],
      };
    });
  }

  /** Log-probability of one target after each seat's token. */
  async score(seats: readonly SeatToken[], targets: readonly number[]): Promise<readonly number[]> {
    const pass = this.#fill(seats);
    write(this.#gpu, this.#tensors.targetTokens, Uint32Array.from(targets));
    const words = await this.#read(this.#tensors.targetLogprobs, (encoder) => {
      encodeLogits(pass, encoder);
      pass.score.encode(encoder);
    });
    return [...new Float32Array(words.buffer, words.byteOffset, seats.length)];
  }

  /** The logits (n,V) after each seat's token. */
  async logits(seats: readonly SeatToken[]): Promise<Float32Array> {
    const pass = this.#fill(seats);
    const { logits } = this.#tensors;
    const V = logits.shape[1]!;
    let readback = this.#logits.get(pass.seats);
    if (!readback) {
      const rows = slice(logits, `logits of ${pass.seats}`, 0, [pass.seats, V]);
      readback = new Readback(this.#gpu, rows.name, [rows]);
      this.#logits.set(pass.seats, readback);
    }
    const words = await this.#readWith(readback, (encoder) => encodeLogits(pass, encoder));
    return new Float32Array(words.buffer, words.byteOffset, seats.length * V);
  }

  /** Sets how later calls draw tokens, which ids end a turn, and how many likeliest tokens they find. */
  configure(sampling: Sampling, stops: readonly number[], count: number): void {
    const { key, update, greedy, topK, temperature, topP } = sampling;
    const drawing = { key, update, greedy: greedy ? 1 : 0, top_k: topK, temperature, top_p: topP };
    const words = uniformWords(TEXT_SAMPLING, { ...drawing, stops: stops.length, count });
    write(this.#gpu, this.#tensors.settings, words);
    write(this.#gpu, this.#tensors.stops, Uint32Array.from(stops));
  }

  destroy(): void {
    for (const readback of [...this.#readbacks.values(), ...this.#logits.values()]) readback.destroy();
  }

  /** Uploads the seats, and returns the smallest pass that has enough seats. */
  #fill(seats: readonly SeatToken[]): Pass {
    const pass = passFor(this.#passes, seats.length);
    const words = new Uint32Array(pass.seats * SEAT_WORDS).fill(EMPTY_SEAT);
    for (const [i, { token, position, row, toDraw }] of seats.entries()) {
      words.set([token, position, row, toDraw], i * SEAT_WORDS);
    }
    write(this.#gpu, this.#tensors.seats, words);
    return pass;
  }

  #read(tensor: Tensor, record: (encoder: GPUCommandEncoder) => void): Promise<Uint32Array<ArrayBuffer>> {
    return this.#readWith(this.#readbacks.get(tensor)!, record);
  }

  async #readWith(readback: Readback, record: (encoder: GPUCommandEncoder) => void) {
    try {
      submit(this.#gpu, (encoder) => {
        record(encoder);
        readback.encode(encoder);
      });
      const [words] = await readback.read();
      return words!;
    } catch (error) {
      throw await causeOf(error, this.#gpu.lost);
    }
  }
}

function encodeLogits({ blocks, toLogits, seats }: Pass, encoder: GPUCommandEncoder): void {
  if (!toLogits) throw new RangeError(`A pass of ${seats} seats computes no logits. Use fewer seats.`);
  blocks.encode(encoder);
  toLogits.encode(encoder);
}

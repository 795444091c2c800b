import { causeOf, isLost, DeviceLostError, submit, type Gpu } from '../../../gpu/device.ts';
import { Readback } from '../../../gpu/readback.ts';
import { write, type Tensor } from '../../../gpu/tensor.ts';
import { uniformWords } from '../../../gpu/uniform.ts';
import type { DrawCounters, Sampling } from '../../decoding.ts';
import { passFor, type Pass } from './passes.ts';
import { DRAWN_WORDS, MAX_CHUNK, MAX_LIKELIEST, TEXT_SAMPLING, type TextTensors } from './textTensors.ts';

/** A token for a seat of a pass: the network computes its keys and values. */
export interface SeatToken {
  readonly token: number;
  readonly position: number;
  readonly row: number;
  readonly toDraw: number; // tokens to draw after it
}

/** A seat whose row draws tokens, in one state of the grammar. */
interface DrawingSeat extends SeatToken {
  readonly counters: DrawCounters;
  readonly state: number;
  readonly start: number; // tokens of the row before its text: the random draws count from the start of the row
}

/** What a row drew. It drew fewer tokens than asked if the last one ends its turn or leaves its grammar state. */
export interface DrawnTokens {
  readonly ids: readonly number[]; // −1: no token is legal in the grammar state
  readonly logprobs: readonly number[]; // tempered, grammar-masked, before top-k and top-p
  readonly logMass: readonly number[]; // log of the total probability that top-k and top-p keep
}

const EMPTY_SEAT = 0xffffffff;
const SEAT_WORDS = 4;

/** Uploads tokens into seats, submits passes over them and reads back the results. */
export class Runner {
  readonly #gpu: Gpu;
  readonly #tensors: TextTensors;
  readonly #passes: readonly Pass[];
  readonly #readbacks: ReadonlyMap<Tensor, Readback>;

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

  /** Submits passes that compute and cache keys and values of these tokens, in order. */
  prefill(seats: readonly SeatToken[]): void {
    const maxSeats = this.#tensors.seatCounts.prefill;
    for (let at = 0; at < seats.length; at += maxSeats) {
      const chunk = seats.slice(at, at + maxSeats);
      const pass = this.#fill(chunk);
      submit(this.#gpu, (encoder) => pass.blocks.encode(encoder));
    }
  }

  /** Resolves when the device has finished all submitted work. Throws DeviceLostError. */
  async whenIdle(): Promise<void> {
    await this.#gpu.device.queue.onSubmittedWorkDone();
    if (await isLost(this.#gpu.lost)) throw new DeviceLostError(await this.#gpu.lost);
  }

  /** Draws tokens for each seat until its row has drawn its last one or ends its turn, with one read-back. At most MAX_CHUNK each. */
  async draw(seats: readonly DrawingSeat[]): Promise<readonly DrawnTokens[]> {
    const { drawn, draws } = this.#tensors;
    const pass = this.#fill(seats);
    const words = seats.flatMap(({ counters, state, start }) => [counters.update, counters.rollout, state, start]);
    write(this.#gpu, draws, Uint32Array.from(words));
    const steps = Math.max(...seats.map(({ toDraw }) => toDraw));
    const drawnWords = await this.#read(drawn, (encoder) => {
      encoder.clearBuffer(drawn.buffer);
      for (let step = 0; step < steps; step++) {
        encodeLogits(pass, encoder);
        pass.sample.encode(encoder);
      }
    });
    const ids = new Int32Array(drawnWords.buffer);
    const floats = new Float32Array(drawnWords.buffer);
    return seats.map((_, seat) => {
      const at = seat * DRAWN_WORDS;
      const part = (numbers: Int32Array | Float32Array, i: number) => {
        const start = at + 1 + i * MAX_CHUNK;
        return [...numbers.subarray(start, start + ids[at]!)];
      };
      return { ids: part(ids, 0), logprobs: part(floats, 1), logMass: part(floats, 2) };
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

  /** Sets how later calls draw tokens, and how many likeliest tokens they find. */
  configure({ key, greedy, topK, temperature, topP }: Omit<Sampling, 'update'>, count: number): void {
    const words = { key, greedy: greedy ? 1 : 0, top_k: topK, count, temperature, top_p: topP };
    write(this.#gpu, this.#tensors.settings, uniformWords(TEXT_SAMPLING, words));
  }

  destroy(): void {
    for (const readback of this.#readbacks.values()) readback.destroy();
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

  async #read(tensor: Tensor, record: (encoder: GPUCommandEncoder) => void): Promise<Uint32Array<ArrayBuffer>> {
    const readback = this.#readbacks.get(tensor)!;
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

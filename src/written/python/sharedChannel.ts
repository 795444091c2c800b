// This file imports nothing, because Node runs its text in a separate thread.

/**
 * One side's view of the memory that two threads share to exchange texts, one at a time. `header` holds four numbers
 * (see `Place`), `bytes` holds the part of a text that is being sent.
 */
export interface SharedChannel {
  readonly side: Side;
  readonly header: Int32Array;
  readonly bytes: Uint8Array;
}

/**
 * Indices into the header. `state` says who sent what (see `STATES`); `length` is the number of bytes of the part;
 * `requestsBegun` counts the requests of the current message that Python has begun; `interrupt` is 2 if Python has to
 * stop its current work.
 */
export const Place = { state: 0, length: 1, requestsBegun: 2, interrupt: 3 } as const;
/**
 * The two sides of a channel: the host sends requests, the thread with Python sends replies. Each side has its own
 * states, because a reply may arrive before the host has seen that its request was received.
 */
export type Side = 'host' | 'thread';
const FREE = 0;
const STATES = { host: { more: 1, last: 2 }, thread: { more: 3, last: 4 } } as const;
const HEADER_BYTES = 64;
const PART_BYTES = 1 << 20;

export function newChannelMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + PART_BYTES);
}

/** Makes one side's view of the shared memory. */
export function channelSide(side: Side, shared: SharedArrayBuffer): SharedChannel {
  return { side, header: new Int32Array(shared, 0, HEADER_BYTES / 4), bytes: new Uint8Array(shared, HEADER_BYTES) };
}

/** Blocks while the header has this state. May throw to give up waiting. */
export type WaitWhile = (state: number) => void;

/** Makes a WaitWhile without a time limit. */
export function waitForever({ header }: SharedChannel): WaitWhile {
  return (state) => {
    while (Atomics.load(header, Place.state) === state) Atomics.wait(header, Place.state, state);
  };
}

/** Sends a text to the other side, in several parts if it is long, and waits until it was received. */
export function sendText({ side, header, bytes }: SharedChannel, text: string, waitWhile: WaitWhile): void {
  const encoded = new TextEncoder().encode(text);
  for (let from = 0, last = false; !last;) {
    const part = encoded.subarray(from, from + bytes.length);
    from += part.length;
    last = from >= encoded.length;
    bytes.set(part);
    header[Place.length] = part.length;
    const state = STATES[side][last ? 'last' : 'more'];
    Atomics.store(header, Place.state, state);
    Atomics.notify(header, Place.state);
    waitWhile(state);
  }
}

/** Waits for a text from the other side. Throws RangeError if it is longer than `maxBytes` bytes. */
export function receiveText({ side, header, bytes }: SharedChannel, maxBytes: number, waitWhile: WaitWhile): string {
  const otherStates = STATES[side === 'host' ? 'thread' : 'host'];
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let last = false; !last;) {
    waitWhile(FREE);
    const length = Math.min(Math.max(0, header[Place.length] ?? 0), bytes.length);
    size += length;
    if (size > maxBytes) throw new RangeError(`Its reply is longer than ${maxBytes} bytes.`);
    parts.push(bytes.slice(0, length));
    last = Atomics.load(header, Place.state) === otherStates.last;
    Atomics.store(header, Place.state, FREE);
    Atomics.notify(header, Place.state);
  }
  const received = new Uint8Array(size);
  parts.reduce((at, part) => (received.set(part, at), at + part.length), 0);
  return new TextDecoder().decode(received);
}

// Imports nothing: Node runs its text in a thread of its own.

/** A memory that two threads talk through, one text at a time. */
export interface Talk {
  readonly side: Side;
  readonly header: Int32Array;
  readonly bytes: Uint8Array;
}

/** Places in the header. `began` counts requests that were begun, `interrupt` is 2 where Python shall stop what it does. */
export const Place = { state: 0, length: 1, began: 2, interrupt: 3 } as const;
/** Who talks. Each side has states of its own: the answer may be there before the other side has seen that its question was taken. */
export type Side = 'host' | 'thread';
const FREE = 0;
const STATES = { host: { more: 1, last: 2 }, thread: { more: 3, last: 4 } } as const;
const HEADER_BYTES = 64;
const BYTES = 1 << 20;

/** A memory to talk through. */
export function newTalkMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + BYTES);
}

/** One side's view of a memory. */
export function talkOf(side: Side, shared: SharedArrayBuffer): Talk {
  return { side, header: new Int32Array(shared, 0, HEADER_BYTES / 4), bytes: new Uint8Array(shared, HEADER_BYTES) };
}

/** Blocks while the state is this one. It may throw, where waiting is given up. */
export type WaitWhile = (state: number) => void;

/** Blocks for as long as it takes. */
export function waitForever({ header }: Talk): WaitWhile {
  return (state) => {
    while (Atomics.load(header, Place.state) === state) Atomics.wait(header, Place.state, state);
  };
}

/** Hands a text to the other side, in parts where it is long. */
export function sendText({ side, header, bytes }: Talk, text: string, waitWhile: WaitWhile): void {
  const whole = new TextEncoder().encode(text);
  for (let from = 0, last = false; !last;) {
    const part = whole.subarray(from, from + bytes.length);
    from += part.length;
    last = from >= whole.length;
    bytes.set(part);
    header[Place.length] = part.length;
    const state = STATES[side][last ? 'last' : 'more'];
    Atomics.store(header, Place.state, state);
    Atomics.notify(header, Place.state);
    waitWhile(state);
  }
}

/** Waits for a text of the other side. Throws RangeError where it is longer than `most` bytes. */
export function receiveText({ side, header, bytes }: Talk, most: number, waitWhile: WaitWhile): string {
  const other = STATES[side === 'host' ? 'thread' : 'host'];
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let last = false; !last;) {
    waitWhile(FREE);
    const length = Math.min(Math.max(0, header[Place.length] ?? 0), bytes.length);
    size += length;
    if (size > most) throw new RangeError(`Its reply is longer than ${most} bytes.`);
    parts.push(bytes.slice(0, length));
    last = Atomics.load(header, Place.state) === other.last;
    Atomics.store(header, Place.state, FREE);
    Atomics.notify(header, Place.state);
  }
  const whole = new Uint8Array(size);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return new TextDecoder().decode(whole);
}

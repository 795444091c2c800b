/**
 * Returns a checksum of plain data as sixteen hex digits. It is the same for a value and its structured clone, and does
 * not depend on the order of an object's keys.
 *
 * It has two lanes of 32 bits. Each step of a lane is a bijection of the lane's state and of the next word. So a change
 * of one word always changes the checksum, and other changes do except once in 2^64. It guards against damage, not
 * against forgery. Numbers count by their bits; typed arrays, strings and maps by their contents. Throws RangeError on
 * functions and symbols.
 */
export function checksumOf(value: unknown): string {
  const lanes = new Lanes();
  walk(lanes, value);
  return lanes.digits();
}

class Lanes {
  private a = 0x811c9dc5 | 0;
  private b = 0x9747b28c | 0;

  word(w: number): void {
    this.a = Math.imul(this.a ^ w, 0x01000193);
    const mixed = Math.imul(this.b ^ w, 0x85ebca6b);
    this.b = mixed ^ (mixed >>> 15);
  }
  words(list: Uint32Array): void {
    // local variables are faster: a save has a million words
    let { a, b } = this;
    // oxlint-disable-next-line typescript/prefer-for-of -- iterating takes 2.6 times as long
    for (let i = 0; i < list.length; i++) {
      const w = list[i]!;
      a = Math.imul(a ^ w, 0x01000193);
      const mixed = Math.imul(b ^ w, 0x85ebca6b);
      b = mixed ^ (mixed >>> 15);
    }
    this.a = a;
    this.b = b;
  }
  text(text: string): void {
    this.word(text.length);
    for (let i = 0; i < text.length; i++) this.word(text.charCodeAt(i));
  }
  digits(): string {
    return [this.a, this.b].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

const number = new Float64Array(1);
const bits = new Uint32Array(number.buffer);

/** A type tag before each value, so that similar values differ: 1 and '1', an empty list and an empty map. */
const TYPE_TAG = {
  undefined: 1,
  null: 2,
  boolean: 3,
  number: 4,
  string: 5,
  bigint: 6,
  list: 7,
  map: 8,
  fields: 9,
  array: 10,
};

function walk(lanes: Lanes, value: unknown): void {
  if (value === undefined) lanes.word(TYPE_TAG.undefined);
  else if (value === null) lanes.word(TYPE_TAG.null);
  else if (typeof value === 'boolean') {
    lanes.word(TYPE_TAG.boolean);
    lanes.word(Number(value));
  } else if (typeof value === 'number') {
    number[0] = value;
    lanes.word(TYPE_TAG.number);
    lanes.words(bits);
  } else if (typeof value === 'string') {
    lanes.word(TYPE_TAG.string);
    lanes.text(value);
  } else if (typeof value === 'object') walkObject(lanes, value);
  else throw new RangeError(`checksumOf: a ${typeof value} is not plain data.`);
}

function walkObject(lanes: Lanes, value: object): void {
  if (ArrayBuffer.isView(value)) {
    lanes.word(TYPE_TAG.array);
    lanes.text(value.constructor.name);
    walkBytes(lanes, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (Array.isArray(value)) {
    lanes.word(TYPE_TAG.list);
    lanes.word(value.length);
    for (const item of value) walk(lanes, item);
  } else if (value instanceof Map) {
    lanes.word(TYPE_TAG.map);
    lanes.word(value.size);
    for (const [key, item] of value) {
      walk(lanes, key);
      walk(lanes, item);
    }
  } else {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    lanes.word(TYPE_TAG.fields);
    lanes.word(fields.length);
    for (const [key, item] of fields) {
      lanes.text(key);
      walk(lanes, item);
    }
  }
}

function walkBytes(lanes: Lanes, all: Uint8Array): void {
  lanes.word(all.byteLength);
  const wholeBytes = all.byteLength - (all.byteLength % 4);
  const aligned = all.byteOffset % 4 === 0 ? all.subarray(0, wholeBytes) : all.slice(0, wholeBytes);
  lanes.words(new Uint32Array(aligned.buffer, aligned.byteOffset, wholeBytes / 4));
  for (const byte of all.subarray(wholeBytes)) lanes.word(byte);
}

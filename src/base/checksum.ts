/** FNV-1a over 32 bits: the hash of nothing. */
export const FNV_START = 0x811c9dc5 | 0;

/** The FNV-1a hash (a signed 32-bit integer) after one more unit: a byte, or a UTF-16 unit of a text. */
export function fnv(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** The FNV-1a hash of a text's UTF-16 units, going on from `hash`. */
export function fnvOfText(text: string, hash = FNV_START): number {
  let h = hash;
  for (let i = 0; i < text.length; i++) h = fnv(h, text.charCodeAt(i));
  return h;
}

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
  addValue(lanes, value);
  return lanes.hexDigits();
}

class Lanes {
  private a = FNV_START;
  private b = 0x9747b28c | 0;

  addWord(w: number): void {
    this.a = fnv(this.a, w);
    const mixed = Math.imul(this.b ^ w, 0x85ebca6b);
    this.b = mixed ^ (mixed >>> 15);
  }
  addWords(list: Uint32Array): void {
    // local variables are faster: a save has a million words
    let { a, b } = this;
    // oxlint-disable-next-line typescript/prefer-for-of -- iterating takes 2.6 times as long
    for (let i = 0; i < list.length; i++) {
      const w = list[i]!;
      a = fnv(a, w);
      const mixed = Math.imul(b ^ w, 0x85ebca6b);
      b = mixed ^ (mixed >>> 15);
    }
    this.a = a;
    this.b = b;
  }
  addText(text: string): void {
    this.addWord(text.length);
    for (let i = 0; i < text.length; i++) this.addWord(text.charCodeAt(i));
  }
  hexDigits(): string {
    return [this.a, this.b].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

const numberBuffer = new Float64Array(1);
const numberWords = new Uint32Array(numberBuffer.buffer);

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

function addValue(lanes: Lanes, value: unknown): void {
  if (value === undefined) lanes.addWord(TYPE_TAG.undefined);
  else if (value === null) lanes.addWord(TYPE_TAG.null);
  else if (typeof value === 'boolean') {
    lanes.addWord(TYPE_TAG.boolean);
    lanes.addWord(Number(value));
  } else if (typeof value === 'number') {
    numberBuffer[0] = value;
    lanes.addWord(TYPE_TAG.number);
    lanes.addWords(numberWords);
  } else if (typeof value === 'string') {
    lanes.addWord(TYPE_TAG.string);
    lanes.addText(value);
  } else if (typeof value === 'object') addObject(lanes, value);
  else throw new RangeError(`checksumOf: a ${typeof value} is not plain data.`);
}

function addObject(lanes: Lanes, value: object): void {
  if (ArrayBuffer.isView(value)) {
    lanes.addWord(TYPE_TAG.array);
    lanes.addText(value.constructor.name);
    addBytes(lanes, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (Array.isArray(value)) {
    lanes.addWord(TYPE_TAG.list);
    lanes.addWord(value.length);
    for (const item of value) addValue(lanes, item);
  } else if (value instanceof Map) {
    lanes.addWord(TYPE_TAG.map);
    lanes.addWord(value.size);
    for (const [key, item] of value) {
      addValue(lanes, key);
      addValue(lanes, item);
    }
  } else {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    lanes.addWord(TYPE_TAG.fields);
    lanes.addWord(fields.length);
    for (const [key, item] of fields) {
      lanes.addText(key);
      addValue(lanes, item);
    }
  }
}

function addBytes(lanes: Lanes, bytes: Uint8Array): void {
  lanes.addWord(bytes.byteLength);
  const wholeBytes = bytes.byteLength - (bytes.byteLength % 4);
  const aligned = bytes.byteOffset % 4 === 0 ? bytes.subarray(0, wholeBytes) : bytes.slice(0, wholeBytes);
  lanes.addWords(new Uint32Array(aligned.buffer, aligned.byteOffset, wholeBytes / 4));
  for (const byte of bytes.subarray(wholeBytes)) lanes.addWord(byte);
}

/**
 * Makes a virtual machine count its own work. QuickJS counts only the loops and calls of the environment's code: one
 * call of `array.sort()` or `text.repeat()` counts as one, however long it computes. To limit these calls too, by the
 * same amount on every machine, the WebAssembly program of the virtual machine is rewritten before it is compiled. Each
 * turn of each of its loops, and each 64 bytes that it copies or fills, takes one from a counter. When a million are
 * used up, the program calls `fd_close`, which nothing else calls, and the host decides whether the program goes on.
 */
export function meteredWasm(quickjsWasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = sectionsOf(quickjsWasm);
  const sectionReader = (id: number) =>
    new Reader(sections.find((section) => section.id === id)?.bytes ?? new Uint8Array());
  const importedNames = importedFunctions(sectionReader(Section.imports));
  const fdClose = importedNames.indexOf('fd_close');
  if (fdClose < 0) throw new Error('The virtual machine doesn’t import fd_close, with which its work is counted.');
  const [types, functionCount, globals] = [
    sectionReader(Section.types).u32(),
    sectionReader(Section.functions).u32(),
    sectionReader(Section.globals).u32(),
  ];
  const meter = { counter: unsigned(globals), askHost: unsigned(importedNames.length + functionCount) };
  const [copyFunction, fillFunction] = [
    unsigned(importedNames.length + functionCount + 1),
    unsigned(importedNames.length + functionCount + 2),
  ];
  const additionsBySection: Readonly<Record<number, readonly (readonly number[])[]>> = {
    [Section.types]: [
      [0x60, 0, 0],
      [0x60, 3, I32, I32, I32, 0],
    ],
    [Section.functions]: [unsigned(types), unsigned(types + 1), unsigned(types + 1)],
    [Section.globals]: [[I32, 1, Op.i32Const, ...signed(WORK_UNIT), Op.end]],
    [Section.code]: [
      // counter += WORK_UNIT; fd_close(-1)
      body([
        ...[
          Op.globalGet,
          ...meter.counter,
          Op.i32Const,
          ...signed(WORK_UNIT),
          Op.i32Add,
          Op.globalSet,
          ...meter.counter,
        ],
        ...[Op.i32Const, ...signed(-1), Op.call, ...unsigned(fdClose), Op.drop],
      ]),
      ...[[BULK, BULK_COPY, 0, 0] as const, [BULK, BULK_FILL, 0] as const].map((bulk) =>
        body([
          ...[Op.localGet, 0, Op.localGet, 1, Op.localGet, 2, ...bulk],
          ...spend(meter, [Op.localGet, 2, Op.i32Const, ...signed(6), Op.i32ShrU]),
        ]),
      ),
    ],
  };
  const out: number[][] = [[...quickjsWasm.subarray(0, 8)]];
  for (const { id, bytes } of sections) {
    const additions = additionsBySection[id];
    if (!additions) {
      out.push([id, ...unsigned(bytes.length)], [...bytes]);
      continue;
    }
    const reader = new Reader(bytes);
    const count = unsigned(reader.u32() + additions.length);
    const oldContents =
      id === Section.code
        ? meteredFunctions(reader, meter, { copy: copyFunction, fill: fillFunction })
        : [...reader.remaining()];
    const length = count.length + oldContents.length + additions.reduce((sum, each) => sum + each.length, 0);
    out.push([id, ...unsigned(length), ...count], oldContents, ...additions.map((each) => [...each]));
  }
  const result = new Uint8Array(out.reduce((sum, part) => sum + part.length, 0));
  out.reduce((at, part) => (result.set(part, at), at + part.length), 0);
  return result;
}

/** The work between two calls to the host. */
const WORK_UNIT = 1_000_000;

interface Meter {
  readonly counter: readonly number[];
  readonly askHost: readonly number[];
}

const Section = { types: 1, imports: 2, functions: 3, globals: 6, code: 10 } as const;
const I32 = 0x7f;
const Op = {
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  call: 0x10,
  drop: 0x1a,
  localGet: 0x20,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Const: 0x41,
  i32LtS: 0x48,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32ShrU: 0x76,
} as const;
const NO_RESULT = 0x40;
const BULK = 0xfc;
const BULK_COPY = 10;
const BULK_FILL = 11;

/** Instructions that take an amount from the counter, and ask the host if nothing is left. */
function spend({ counter, askHost }: Meter, amount: readonly number[]): readonly number[] {
  return [
    ...[Op.globalGet, ...counter, ...amount, Op.i32Sub, Op.globalSet, ...counter],
    ...[Op.globalGet, ...counter, Op.i32Const, 0, Op.i32LtS, Op.if, NO_RESULT, Op.call, ...askHost, Op.end],
  ];
}

/** The code of a function without local variables. */
function body(code: readonly number[]): readonly number[] {
  return [...unsigned(code.length + 2), 0, ...code, Op.end];
}

/** The bodies of all functions, with the counting added. */
function meteredFunctions(
  reader: Reader,
  meter: Meter,
  { copy, fill }: { readonly copy: readonly number[]; readonly fill: readonly number[] },
): number[] {
  const countOne = spend(meter, [Op.i32Const, 1]);
  const out: number[] = [];
  while (!reader.ended()) {
    const size = reader.u32();
    const bodyEnd = reader.offset + size;
    const code: number[] = [];
    let copiedUpTo = reader.offset;
    const copyTo = (to: number) => {
      for (let at = copiedUpTo; at < to; at++) code.push(reader.bytes[at] ?? 0);
      copiedUpTo = to;
    };
    for (let locals = reader.u32(); locals > 0; locals--) reader.skip(2);
    while (reader.offset < bodyEnd) {
      const start = reader.offset;
      const op = reader.byte();
      if (op === BULK) {
        const bulkKind = reader.u32();
        reader.skip(BULK_OPERAND_COUNTS[bulkKind] ?? unknown(bulkKind));
        if (bulkKind === BULK_COPY || bulkKind === BULK_FILL) {
          copyTo(start);
          code.push(Op.call, ...(bulkKind === BULK_COPY ? copy : fill));
          copiedUpTo = reader.offset;
        }
        continue;
      }
      reader.skipOperands(op);
      if (op === Op.loop) {
        copyTo(reader.offset);
        code.push(...countOne);
      }
    }
    copyTo(bodyEnd);
    for (const each of unsigned(code.length)) out.push(each);
    for (const each of code) out.push(each);
  }
  return out;
}

/** The number of operands of each instruction that begins with `fc`, by its number. */
const BULK_OPERAND_COUNTS = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

function unknown(instruction: number): never {
  throw new Error(`The virtual machine has an instruction ${instruction} that is not known here.`);
}

function sectionsOf(wasm: Uint8Array): readonly { readonly id: number; readonly bytes: Uint8Array }[] {
  const reader = new Reader(wasm);
  reader.offset = 8;
  const sections: { id: number; bytes: Uint8Array }[] = [];
  while (!reader.ended()) {
    const id = reader.byte();
    sections.push({ id, bytes: reader.take(reader.u32()) });
  }
  return sections;
}

/** Names of the imported functions, in order. The program may import only functions. */
function importedFunctions(reader: Reader): readonly string[] {
  return Array.from({ length: reader.u32() }, () => {
    reader.take(reader.u32());
    const name = new TextDecoder().decode(reader.take(reader.u32()));
    if (reader.byte() !== 0) throw new Error(`The virtual machine imports ${name}, which isn’t a function.`);
    reader.u32();
    return name;
  });
}

// block, loop, if, br, br_if, call, return_call, memory.size, memory.grow, i32.const, i64.const, ref.null, ref.func
const ONE_OPERAND: ReadonlySet<number> = new Set([
  ...[0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x12],
  ...[0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2],
]);
// unreachable, nop, else, end, return, drop, select, ref.is_null
const NO_OPERAND: ReadonlySet<number> = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1]);

/** Reads numbers as WebAssembly writes them (LEB128). */
class Reader {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  ended(): boolean {
    return this.offset >= this.bytes.length;
  }

  byte(): number {
    return this.bytes[this.offset++] ?? 0;
  }

  u32(): number {
    for (let [value, scale] = [0, 1]; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  take(length: number): Uint8Array {
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  remaining(): Uint8Array {
    return this.bytes.subarray(this.offset);
  }

  skip(numbers: number): void {
    for (let n = 0; n < numbers; n++) while (this.byte() >= 128);
  }

  /**
   * Skips the operands of an instruction (WebAssembly core specification 2.0, 5.4). Throws at an instruction that isn't
   * listed here, such as those of exceptions: if its operands were read wrongly, later loops would not be counted.
   */
  skipOperands(op: number): void {
    if (op === 0x43) this.offset += 4; // f32.const
    else if (op === 0x44) this.offset += 8; // f64.const
    else if (op === 0x0e) this.skip(this.u32() + 1); // br_table: a list of labels, and one more
    else if (op === 0x1c) this.skip(this.u32()); // select: a list of types
    else if (op >= 0x28 && op <= 0x3e) this.skip(2); // loads and stores: alignment, offset
    else if (op === 0x11 || op === 0x13) this.skip(2); // indirect calls: type, table
    else if (ONE_OPERAND.has(op) || (op >= 0x20 && op <= 0x26)) this.skip(1); // 20 to 26: variables and tables
    else if (!NO_OPERAND.has(op) && (op < 0x45 || op > 0xc4)) unknown(op); // 45 to c4: arithmetic
  }
}

function unsigned(value: number): readonly number[] {
  const bytes: number[] = [];
  for (let remaining = value; ; remaining = Math.floor(remaining / 128)) {
    if (remaining < 128) return [...bytes, remaining];
    bytes.push((remaining % 128) + 128);
  }
}

function signed(value: number): readonly number[] {
  const bytes: number[] = [];
  for (let remaining = value; ; remaining >>= 7) {
    const low = remaining & 127;
    if ((remaining >> 7 === 0 && low < 64) || (remaining >> 7 === -1 && low >= 64)) return [...bytes, low];
    bytes.push(low + 128);
  }
}

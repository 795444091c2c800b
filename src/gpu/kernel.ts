import { uniformStruct, type UniformStruct } from './uniform.ts';

/** How a kernel uses a binding, parsed from the WGSL. */
export type Access = 'read' | 'read_write' | 'uniform';

export interface Binding {
  readonly name: string;
  readonly access: Access;
  /** The WGSL alias of its element type, which `sourceWithFloat16` can make f16. Null if its elements always take 4 bytes. */
  readonly alias: string | null;
  /** The struct that a uniform binding holds. Null if the binding is storage. */
  readonly struct: UniformStruct | null;
}

/** Sizes of one dispatch: the fields of the kernel's `Shape`. */
export type Dims = Readonly<Record<string, number>>;
/** Pipeline-overridable constants of one dispatch. */
export type Constants = Readonly<Record<string, number>>;

/** The aliases of a kernel that are f16 in one dispatch, in the order of its bindings. */
export type Float16Aliases = readonly string[];

/** A binding whose element type is an alias (a line begins `alias Kept = f32;`, or `vec4<f32>`) can hold f16; the kernel computes in f32 and rounds what it stores. */
export interface Kernel {
  readonly name: string;
  readonly wgsl: string;
  readonly bindings: readonly Binding[]; // in @binding order, without `shape`
  readonly dims: readonly string[]; // fields of `Shape`, in order
  readonly grid: (dims: Dims) => readonly [number, number?, number?]; // workgroups
  readonly flops: (dims: Dims) => number;
  /** Bytes of the least memory traffic, in which each operand moves once. */
  readonly bytes: (dims: Dims, float16Aliases?: Float16Aliases) => number;
  /** It ends where rows do, so running it again does nothing: its time can't be measured by repeating it. */
  readonly runsOut: boolean;
}

/** What TypeScript declares of a kernel, besides its name and its WGSL. */
interface Declaration {
  /** Binding names in order, to be checked against the WGSL. */
  readonly bind: readonly string[];
  readonly grid: Kernel['grid'];
  readonly flops: Kernel['flops'];
  /** @param size bytes of a binding's scalars */
  readonly bytes: (dims: Dims, size: (binding: string) => number) => number;
  readonly runsOut?: boolean; // default: no
}

const BINDING =
  /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(storage|uniform)\s*(?:,\s*(read|read_write)\s*)?>\s*(\w+)\s*:([^;]*);/g;
const ALIAS = /^alias (\w+) = (f32|vec4<f32>);/gm;

/** Declares a kernel. Throws if the names differ from the WGSL's bindings, or the file has no `Shape`. */
export function kernel(name: string, wgsl: string, declaration: Declaration): Kernel {
  const aliases = Array.from(wgsl.matchAll(ALIAS), ([, alias]) => alias);
  // a shared WGSL part (`//! piece NAME`) may declare bindings between the file's own, so sort by number
  const bindingMatches = Array.from(wgsl.matchAll(BINDING)).toSorted(([, a], [, b]) => Number(a) - Number(b));
  for (const [expectedIndex, [, index, , , variable]] of bindingMatches.entries()) {
    if (Number(index) !== expectedIndex)
      throw new Error(`${name}: @binding numbers must count up from 0, but ${String(variable)} has ${String(index)}.`);
  }
  const hasShape = bindingMatches.at(-1)?.[4] === 'shape';
  const bindings = bindingMatches.slice(0, -1).map(([, , space, access, variable, type]): Binding => {
    const uniform = space === 'uniform';
    return {
      name: variable ?? '',
      access: uniform ? 'uniform' : ((access ?? 'read') as Access),
      struct: uniform ? uniformStruct(wgsl, (type ?? '').trim()) : null,
      alias: aliases.find((alias) => new RegExp(`\\b${alias}\\b`).test(type ?? '')) ?? null,
    };
  });
  const fields = /struct Shape \{([^}]*)\}/.exec(wgsl)?.[1];
  if (fields === undefined || !hasShape)
    throw new Error(`${name}: it must bind a \`struct Shape\` last, as \`shape\`.`);
  const boundNames = bindings.map((b) => b.name).join(' ');
  const declaredNames = declaration.bind.join(' ');
  if (boundNames !== declaredNames)
    throw new Error(`${name}: the WGSL binds "${boundNames}", the declaration says "${declaredNames}".`);
  return {
    name,
    wgsl,
    bindings,
    dims: Array.from(fields.matchAll(/(\w+)\s*:\s*u32/g), (m) => m[1] ?? ''),
    grid: declaration.grid,
    flops: declaration.flops,
    runsOut: declaration.runsOut ?? false,
    bytes: (dims, float16Aliases = []) => {
      const float16Bindings = bindings
        .filter(({ alias }) => alias !== null && float16Aliases.includes(alias))
        .map((b) => b.name);
      return declaration.bytes(dims, (binding) => (float16Bindings.includes(binding) ? 2 : 4));
    },
  };
}

/** The struct that a kernel reads from a uniform. Throws if it binds no uniform of that name. */
export function uniformOf({ name, bindings }: Kernel, binding: string): UniformStruct {
  const struct = bindings.find((one) => one.name === binding)?.struct;
  if (!struct) throw new Error(`${name}: there is no uniform ${binding}.`);
  return struct;
}

/** A kernel's WGSL with these aliases changed to f16. Line numbers stay the same. */
export function sourceWithFloat16({ wgsl }: Kernel, float16Aliases: Float16Aliases): string {
  if (float16Aliases.length === 0) return wgsl;
  const changed = wgsl.replaceAll(ALIAS, (line, alias: string) =>
    float16Aliases.includes(alias) ? line.replace('f32', 'f16') : line,
  );
  return `enable f16; ${changed}`;
}

export function workgroups({ grid }: Kernel, dims: Dims): number {
  const [x, y = 1, z = 1] = grid(dims);
  return x * y * z;
}

/** Number of workgroups of `size` that cover `n`. */
export function ceilDiv(n: number, size: number): number {
  return Math.ceil(n / size);
}

/** WebGPU allows 65,535 in one dimension; more are spread over x and y, and the WGSL computes its index from both. */
export function foldedGrid(groups: number): [number, number] {
  return groups <= 65535 ? [groups, 1] : [65535, ceilDiv(groups, 65535)];
}

/** How a binding is used, parsed from the WGSL. */
export type Access = 'read' | 'read_write' | 'uniform';

export interface Binding {
  readonly name: string;
  readonly access: Access;
}

/** Sizes of one dispatch: the fields of the kernel's `Shape`. */
export type Dims = Readonly<Record<string, number>>;
/** Pipeline-overridable constants of one dispatch. */
export type Constants = Readonly<Record<string, number>>;

/** A kernel, declared once beside its WGSL. */
export interface Kernel {
  readonly name: string;
  readonly wgsl: string;
  readonly bindings: readonly Binding[]; // in @binding order, without `shape`
  readonly dims: readonly string[]; // fields of `Shape`, in order
  readonly grid: (dims: Dims) => readonly [number, number?, number?]; // workgroups
  readonly flops: (dims: Dims) => number;
  readonly bytes: (dims: Dims) => number; // least traffic: every operand once
}

interface Declaration {
  /** Binding names in order, to be checked against the WGSL. */
  readonly bind: readonly string[];
  readonly grid: Kernel['grid'];
  readonly flops: Kernel['flops'];
  readonly bytes: Kernel['bytes'];
}

const BINDING =
  /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(storage|uniform)\s*(?:,\s*(read|read_write)\s*)?>\s*(\w+)\s*:/g;

/** Declares a kernel. Throws when the names differ from the WGSL's bindings, or the file has no `Shape`. */
export function kernel(name: string, wgsl: string, declaration: Declaration): Kernel {
  const bindings: Binding[] = [];
  let hasShape = false;
  for (const [, index, space, access, variable] of wgsl.matchAll(BINDING)) {
    if (variable === undefined || Number(index) !== bindings.length + (hasShape ? 1 : 0)) {
      throw new Error(`${name}: @binding numbers must count up from 0; got ${String(index)} at ${String(variable)}.`);
    }
    if (variable === 'shape') hasShape = true;
    else bindings.push({ name: variable, access: space === 'uniform' ? 'uniform' : ((access ?? 'read') as Access) });
  }
  const fields = /struct Shape \{([^}]*)\}/.exec(wgsl)?.[1];
  if (fields === undefined || !hasShape) throw new Error(`${name}: want a \`struct Shape\` bound last as \`shape\`.`);
  const got = bindings.map((b) => b.name).join(' ');
  const want = declaration.bind.join(' ');
  if (got !== want) throw new Error(`${name}: the WGSL binds "${got}", the declaration says "${want}".`);
  return {
    name,
    wgsl,
    bindings,
    dims: Array.from(fields.matchAll(/(\w+)\s*:\s*u32/g), (m) => m[1] ?? ''),
    grid: declaration.grid,
    flops: declaration.flops,
    bytes: declaration.bytes,
  };
}

/** Workgroups of `size` that cover `n`. */
export function ceilDiv(n: number, size: number): number {
  return Math.ceil(n / size);
}

/** A one-dimensional grid of `groups`, folded into two dimensions past 65,535; the WGSL continues x in y. */
export function folded(groups: number): [number, number] {
  return groups <= 65535 ? [groups, 1] : [65535, ceilDiv(groups, 65535)];
}

const SCALAR_TYPES = ['f32', 'u32', 'i32'] as const;

/** A field of a uniform: a scalar of four bytes. */
export interface UniformField {
  readonly name: string;
  readonly type: (typeof SCALAR_TYPES)[number];
}

/** A uniform's struct as the WGSL declares it. Its fields lie one after the other, four bytes each. */
export interface UniformStruct {
  readonly name: string;
  readonly fields: readonly UniformField[];
}

/** Reads a struct of scalars from WGSL. Throws if it is missing, or if a field is not a scalar. */
export function uniformStruct(wgsl: string, name: string): UniformStruct {
  const body = new RegExp(`struct ${name} \\{([^}]*)\\}`).exec(wgsl)?.[1];
  if (body === undefined) throw new Error(`The WGSL has no \`struct ${name}\`. Declare it, or name its piece.`);
  const fields = body
    .replaceAll(/\/\/.*$/gm, '')
    .split(',')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line): UniformField => {
      const [, field, scalar] = /^(\w+)\s*:\s*(\w+)$/.exec(line) ?? [];
      const type = SCALAR_TYPES.find((known) => known === scalar);
      if (field === undefined || !type)
        throw new Error(`struct ${name}: \`${line}\` isn't a scalar. Use ${SCALAR_TYPES.join(', ')}.`);
      return { name: field, type };
    });
  return { name, fields };
}

/** The 32-bit words of a uniform with these values. Throws if a field has no value, or if a value has no field. */
export function uniformWords({ name, fields }: UniformStruct, values: Readonly<Record<string, number>>): Uint32Array {
  const unknown = Object.keys(values).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined)
    throw new Error(`struct ${name} has no field ${unknown}. It has ${fields.map((field) => field.name).join(', ')}.`);
  const words = new Uint32Array(fields.length);
  const floats = new Float32Array(words.buffer);
  for (const [index, { name: field, type }] of fields.entries()) {
    const value = values[field];
    if (value === undefined) throw new Error(`struct ${name}: there is no value for ${field}.`);
    (type === 'f32' ? floats : words)[index] = value;
  }
  return words;
}

/** Byte offset of a field. Throws if the struct has no such field. */
export function fieldOffset({ name, fields }: UniformStruct, field: string): number {
  const index = fields.findIndex((one) => one.name === field);
  if (index < 0) throw new Error(`struct ${name} has no field ${field}.`);
  return 4 * index;
}

export function uniformBytes({ fields }: UniformStruct): number {
  return 4 * fields.length;
}

const CONSTANT = /\bconst (\w+) = ([\d.]+)u?;/g;

/** `choiceCode(wgsl, 'KL', 'k1')` is the value of `const KL_K1`. Throws if there is no such constant. */
export function choiceCode(wgsl: string, prefix: string, choice: string): number {
  const name = `${prefix}_${choice.replaceAll('-', '_').toUpperCase()}`;
  const value = Array.from(wgsl.matchAll(CONSTANT)).find(([, constant]) => constant === name)?.[2];
  if (value === undefined) throw new Error(`The WGSL has no \`const ${name}\`, the number of ${choice}. Declare it.`);
  return Number(value);
}

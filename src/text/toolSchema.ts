/** What a parameter of a tool takes; a bare name is a text. */
export type Parameter =
  | string
  | {
      readonly name: string;
      readonly type: ParameterType;
      readonly description?: string;
      readonly choices?: readonly string[]; // of a text
    };

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean';

/** What is said of a tool. */
export interface ToolFace {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
}

interface PropertySchema {
  readonly type: ParameterType;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** A tool as chat templates are given it (JSON Schema, in OpenAI's envelope). */
export interface ToolSchema {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: {
      readonly type: 'object';
      readonly properties: Readonly<Record<string, PropertySchema>>;
      readonly required: readonly string[];
    };
  };
}

/** The schema of a tool; every parameter is required. */
export function toolSchema({ name, description, parameters }: ToolFace): ToolSchema {
  const named = parameters.map((parameter) =>
    typeof parameter === 'string' ? { name: parameter, type: 'string' as const } : parameter,
  );
  const properties = Object.fromEntries(
    named.map(({ name: of, type, ...rest }) => {
      const { description: says, choices } = { description: undefined, choices: undefined, ...rest };
      return [
        of,
        { type, ...(says === undefined ? {} : { description: says }), ...(choices ? { enum: choices } : {}) },
      ];
    }),
  );
  const required = named.map(({ name: of }) => of);
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}

/** JSON on one line with a blank after commas and colons, as Python's `json.dumps` writes it, which models have seen. */
export function jsonLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, of]) => of !== undefined);
    return `{${fields.map(([name, of]) => `${JSON.stringify(name)}: ${jsonLine(of)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}

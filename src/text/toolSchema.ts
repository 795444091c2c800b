/** A parameter of a tool. A name alone means a parameter of type string. */
export type Parameter =
  | string
  | {
      readonly name: string;
      readonly type: ParameterType;
      readonly description?: string;
      readonly choices?: readonly string[]; // allowed values of a string
    };

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean';

/** The public description of a tool. */
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

/** A tool in the form that chat templates expect (JSON Schema, in OpenAI's envelope). */
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

/** The schema of a tool. All parameters are required. */
export function toolSchema({ name, description, parameters }: ToolFace): ToolSchema {
  const namedParameters = parameters.map((parameter) =>
    typeof parameter === 'string' ? { name: parameter, type: 'string' as const } : parameter,
  );
  const properties = Object.fromEntries(
    namedParameters.map(({ name: parameter, type, ...rest }) => {
      const { description: parameterDescription, choices } = { description: undefined, choices: undefined, ...rest };
      return [
        parameter,
        {
          type,
          ...(parameterDescription === undefined ? {} : { description: parameterDescription }),
          ...(choices ? { enum: choices } : {}),
        },
      ];
    }),
  );
  const required = namedParameters.map(({ name: parameter }) => parameter);
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}

/**
 * JSON on one line with a space after commas and colons, like Python's `json.dumps`. Models were trained on this form.
 */
export function jsonLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, entry]) => entry !== undefined);
    return `{${fields.map(([name, entry]) => `${JSON.stringify(name)}: ${jsonLine(entry)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}

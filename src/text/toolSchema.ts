/**
 * A JSON Schema of an argument's value, as Transformers' `get_json_schema` writes it. A schema without `type`, `enum`
 * and `anyOf` allows every value.
 */
export interface ValueSchema {
  readonly type?: ParameterType | readonly ParameterType[];
  readonly enum?: readonly (string | number | boolean | null)[]; // the allowed values
  readonly items?: ValueSchema; // of a list
  readonly prefixItems?: readonly ValueSchema[]; // of a list of fixed length
  readonly additionalProperties?: ValueSchema; // of an object's values
  readonly anyOf?: readonly ValueSchema[];
  readonly nullable?: boolean; // null is allowed too
}

/** A parameter of a tool. A name alone means a parameter of type string. */
export type Parameter =
  | string
  | (ValueSchema & {
      readonly name: string;
      readonly description?: string;
      readonly optional?: boolean; // true: it has a default, so a call may leave it out
    });

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';

export interface ToolFace {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
}

type PropertySchema = ValueSchema & { readonly description?: string };

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

export function valueSchemaOf(parameter: Parameter): ValueSchema {
  if (typeof parameter === 'string') return { type: 'string' };
  const { name: _name, description: _description, optional: _optional, ...schema } = parameter;
  return schema;
}

/** The schema of a tool. A parameter with a default isn't required. */
export function toolSchema({ name, description, parameters }: ToolFace): ToolSchema {
  const properties = parameters.map((parameter): readonly [string, PropertySchema] => {
    const { name: key, description: text } =
      typeof parameter === 'string' ? { name: parameter, description: undefined } : parameter;
    return [key, { ...valueSchemaOf(parameter), ...(text !== undefined && { description: text }) }];
  });
  const required = parameters.flatMap((parameter) =>
    typeof parameter === 'string' ? [parameter] : parameter.optional ? [] : [parameter.name],
  );
  return {
    type: 'function',
    function: {
      ...{ name, description },
      parameters: { type: 'object', properties: Object.fromEntries(properties), required },
    },
  };
}

/** The types of values that a schema allows. Null if it allows every type. */
export function typesOf({ type, anyOf, nullable }: ValueSchema): readonly ParameterType[] | null {
  const parts = anyOf?.map(typesOf) ?? [type === undefined ? null : [type].flat()];
  if (parts.includes(null)) return null;
  return [...new Set([...parts.flatMap((types) => types ?? []), ...(nullable ? (['null'] as const) : [])])];
}

/** Whether a value matches a schema. An integer has to be one that JavaScript can hold exactly. */
export function matchesSchema(value: unknown, schema: ValueSchema): boolean {
  if (value === null && schema.nullable) return true;
  if (schema.enum && !schema.enum.some((each) => each === value)) return false;
  if (schema.anyOf) return schema.anyOf.some((each) => matchesSchema(value, each));
  if (schema.type === undefined) return value !== undefined;
  return [schema.type].flat().some((type) => hasType(value, type, schema));
}

function hasType(value: unknown, type: ParameterType, schema: ValueSchema): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'null':
      return value === null;
    case 'array': {
      if (!Array.isArray(value)) return false;
      const { items, prefixItems } = schema;
      if (prefixItems && prefixItems.length !== value.length) return false;
      return value.every((item, at) => matchesSchema(item, prefixItems?.[at] ?? items ?? {}));
    }
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      return Object.values(value).every((item) => matchesSchema(item, schema.additionalProperties ?? {}));
    case 'string':
    case 'boolean':
      return typeof value === type;
  }
}

/** The allowed values in a few words, such as `list of integer`. */
export function schemaWords(schema: ValueSchema): string {
  const orNull = schema.nullable ? ' or null' : '';
  if (schema.enum) return `one of ${schema.enum.map(String).join(', ')}${orNull}`;
  if (schema.anyOf) return schema.anyOf.map(schemaWords).join(' or ') + orNull;
  if (schema.type === undefined) return 'any value';
  const words = [schema.type].flat().map((type) => {
    if (type !== 'array') return type;
    const items = schema.prefixItems?.map(schemaWords).join(', ') ?? (schema.items ? schemaWords(schema.items) : '');
    return items === '' ? 'list' : `list of ${items}`;
  });
  return words.join(' or ') + orNull;
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

export function parameterName(parameter: Parameter): string {
  return typeof parameter === 'string' ? parameter : parameter.name;
}

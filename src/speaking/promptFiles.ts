import { FILE_NAMES } from '../checkpoints/checkpointFolder.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import type { GgufHeader } from '../formats/ggufHeader.ts';
import { field, isRecord, type JsonRecord, filledText } from '../base/jsonRecord.ts';
import { readJson } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { chatTemplate, type ChatTemplate, type NamedTemplates, type TemplateTokens } from '../text/chatTemplate.ts';
import { readAddedToken, type SideToken } from '../text/tokenizerFile.ts';

export interface FolderFiles {
  readonly names: readonly string[];
  readonly sourceOf: (name: string) => ByteSource | null; // null: no such file
}

/** The settings of prompts in all files except tokenizer.json, read as `AutoTokenizer` of Transformers reads them. */
export interface PromptFiles {
  readonly template: ChatTemplate | null; // null: the files have none
  readonly addedTokens: readonly SideToken[]; // tokens that may be missing in tokenizer.json
  readonly splitsSpecial: boolean; // whether special tokens in a text are read as plain text
}

/** Largest size of a file that is read whole. No published file is nearly this large. */
const MAX_FILE_BYTES = 1 << 26;
const REMEDY = 'Choose a checkpoint whose files are as they were saved.';

/** The whole content of a file; null if there is no such file. Throws ProblemError if it's too large. */
export async function readFolderFile({ sourceOf }: FolderFiles, name: string): Promise<Uint8Array | null> {
  const source = sourceOf(name);
  if (!source) return null;
  if (source.size <= MAX_FILE_BYTES) return source.read(0, source.size);
  throw new ProblemError([{ file: name, place: '', got: `${source.size} bytes`, want: `at most ${MAX_FILE_BYTES}`, remedy: REMEDY }]); // prettier-ignore
}

/** A JSON file; null if there is no such file, or if it isn't an object. */
export async function readFolderObject(folder: FolderFiles, name: string): Promise<JsonRecord | null> {
  const bytes = await readFolderFile(folder, name);
  const value = bytes && readJson(name, bytes);
  return isRecord(value) ? value : null;
}

/**
 * Reads the files that `apply_chat_template` uses besides tokenizer.json: tokenizer_config.json,
 * special_tokens_map.json, added_tokens.json, chat_template.jinja and additional_chat_templates. `padToken` comes from
 * tokenizer.json. Throws ProblemError with file and place.
 */
export async function readPromptFiles(folder: FolderFiles, padToken: string | null): Promise<PromptFiles> {
  const config = (await readFolderObject(folder, FILE_NAMES.tokenizerConfig)) ?? {};
  const modelConfig = (await readFolderObject(folder, FILE_NAMES.config)) ?? {};
  const tokensDecoder = field(config, 'added_tokens_decoder');
  // the older files count only if the newer key is missing; they then take precedence over the config
  const specialTokensMap = isRecord(tokensDecoder) ? null : await readFolderObject(folder, FILE_NAMES.specialTokens);
  const addedTokensFile = isRecord(tokensDecoder) ? null : await readFolderObject(folder, FILE_NAMES.addedTokens);
  const settings = { ...(padToken !== null && { pad_token: padToken }), ...classTokens(config, modelConfig), ...config, ...specialTokensMap }; // prettier-ignore
  const tokens = namedTokens(settings);
  const unnamedTokens = unnamedSpecialTokens(settings);
  const special = new Set([...Object.values(tokens), ...unnamedTokens]);
  const declared = isRecord(tokensDecoder) ? declaredTokens(tokensDecoder) : Object.keys(addedTokensFile ?? {}).map((content) => plainToken(content, special)); // prettier-ignore
  const declaredTexts = new Set(declared.map(({ content }) => content));
  const sources = await templateSources(folder, field(config, 'chat_template'));
  return {
    template: sources && chatTemplate(sources.templates, tokens, sources.file),
    addedTokens: [
      ...declared,
      ...[...special].filter((token) => !declaredTexts.has(token)).map((token) => plainToken(token, special)),
    ],
    splitsSpecial: field(config, 'split_special_tokens') === true,
  };
}

const plainToken = (content: string, special: ReadonlySet<string>): SideToken => ({
  ...{ content, special: special.has(content), normalized: !special.has(content) },
});

/** The tokens that each tokenizer class has by default. */
const CLASS_TOKENS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GPT2Tokenizer: { bos_token: '<|endoftext|>', eos_token: '<|endoftext|>', unk_token: '<|endoftext|>' },
  Qwen2Tokenizer: { eos_token: '<|endoftext|>', unk_token: '<|endoftext|>', pad_token: '<|endoftext|>' },
};
const CLASS_OF_MODEL: Readonly<Record<string, string>> = { qwen2: 'Qwen2Tokenizer', qwen3: 'Qwen2Tokenizer' };

function classTokens(config: JsonRecord, model: JsonRecord): JsonRecord {
  const kind = String(field(model, 'model_type'));
  const defaultClass = Object.hasOwn(CLASS_OF_MODEL, kind) ? CLASS_OF_MODEL[kind] : '';
  // like Transformers, ignores the class names in Qwen2's repositories
  const named =
    kind === 'qwen2'
      ? defaultClass
      : (field(config, 'tokenizer_class') ?? field(model, 'tokenizer_class') ?? defaultClass);
  const name = typeof named === 'string' ? named.replace(/Fast$/, '') : '';
  return (Object.hasOwn(CLASS_TOKENS, name) ? CLASS_TOKENS[name] : undefined) ?? {};
}

/** The text of a token that is given as a text or as an object with `content`; null if there is none. */
const contentOf = (value: unknown) => filledText(isRecord(value) ? field(value, 'content') : value);

/** Every `…_token`, including a model's own (`image_token`), and the names in `extra_special_tokens`. */
function namedTokens(settings: JsonRecord): TemplateTokens {
  const modelTokens = field(settings, 'extra_special_tokens');
  const entries = Object.entries({ ...settings, ...(isRecord(modelTokens) && modelTokens) });
  const modelTokenNames = new Set(isRecord(modelTokens) ? Object.keys(modelTokens) : []);
  const tokens = entries.flatMap(([name, value]): [string, string][] => {
    const content = name.endsWith('_token') || modelTokenNames.has(name) ? contentOf(value) : null;
    return content === null ? [] : [[name, content]];
  });
  return Object.fromEntries(tokens);
}

function unnamedSpecialTokens(settings: JsonRecord): readonly string[] {
  const extra = field(settings, 'extra_special_tokens');
  const list = Array.isArray(extra) && extra.length > 0 ? extra : field(settings, 'additional_special_tokens');
  return (Array.isArray(list) ? (list as readonly unknown[]) : []).map(contentOf).filter((token) => token !== null);
}

/** The tokens of `added_tokens_decoder`, sorted by id. */
function declaredTokens(decoder: JsonRecord): readonly SideToken[] {
  const byId = Object.entries(decoder).sort(([a], [b]) => Number(a) - Number(b));
  return byId.map(([id, entry]) =>
    readAddedToken(isRecord(entry) ? entry : {}, `added_tokens_decoder, ${id}`, (place, got, want) => {
      return new ProblemError([{ file: FILE_NAMES.tokenizerConfig, place, got, want, remedy: REMEDY }]);
    }),
  );
}

interface Sources {
  readonly templates: string | NamedTemplates;
  readonly file: string; // for messages
}

const ADDITIONAL_TEMPLATES = 'additional_chat_templates/';

/** Templates in separate files replace all in tokenizer_config.json, whose entry is `configured`: one, or several by name. Null if none. */
async function templateSources(folder: FolderFiles, configured: unknown): Promise<Sources | null> {
  const read = async (name: string) => utf8(name, (await readFolderFile(folder, name)) ?? new Uint8Array());
  const byName = new Map<string, string>();
  if (folder.sourceOf(FILE_NAMES.template)) byName.set('default', await read(FILE_NAMES.template));
  for (const file of folder.names) {
    const [, name] = /^additional_chat_templates\/([^/]+)\.jinja$/.exec(file) ?? [];
    if (name !== undefined) byName.set(name, await read(file));
  }
  if (byName.size > 0) {
    const file = folder.sourceOf(FILE_NAMES.template) ? FILE_NAMES.template : ADDITIONAL_TEMPLATES;
    return { templates: namedTemplates(byName), file };
  }
  const file = FILE_NAMES.tokenizerConfig;
  if (typeof configured === 'string') return configured === '' ? null : { templates: configured, file };
  const entries: readonly (readonly [unknown, unknown])[] = Array.isArray(configured)
    ? (configured as readonly unknown[]).filter(isRecord).map((each) => [field(each, 'name'), field(each, 'template')])
    : Object.entries(isRecord(configured) ? configured : {});
  for (const [name, template] of entries) {
    if (typeof name === 'string' && typeof template === 'string') byName.set(name, template);
  }
  return byName.size > 0 ? { templates: namedTemplates(byName), file } : null;
}

function namedTemplates(byName: ReadonlyMap<string, string>): NamedTemplates {
  const [defaultTemplate, toolTemplate] = [byName.get('default'), byName.get('tool_use')];
  return {
    ...(defaultTemplate !== undefined && { default: defaultTemplate }),
    ...(toolTemplate !== undefined && { tool_use: toolTemplate }),
  };
}

/** Decodes a text as Python does: a byte order mark stays in the text, and invalid UTF-8 is refused. */
function utf8(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProblemError([
      { file, place: '', got: 'bytes that are not UTF-8', want: 'text in UTF-8', remedy: REMEDY },
    ]);
  }
}

/** The chat template of a GGUF file, including its template for tools, if it has one. Null if the file has no template. */
export function ggufTemplate({ file, metadata }: GgufHeader): ChatTemplate | null {
  const key = 'tokenizer.chat_template';
  const byName = new Map<string, string>();
  for (const [name, purpose] of [
    [key, 'default'],
    [`${key}.default`, 'default'],
    [`${key}.tool_use`, 'tool_use'],
  ] as const) {
    // prettier-ignore
    const template = filledText(metadata.get(name));
    if (template !== null && !byName.has(purpose)) byName.set(purpose, template);
  }
  return byName.size === 0 ? null : chatTemplate(namedTemplates(byName), ggufTokens(metadata), file);
}

const GGUF_TOKENS = { bos_token: 'bos', eos_token: 'eos', unk_token: 'unknown', pad_token: 'padding' } as const;

function ggufTokens(metadata: GgufHeader['metadata']): TemplateTokens {
  const words = metadata.get('tokenizer.ggml.tokens');
  const tokens = Object.entries(GGUF_TOKENS).flatMap(([name, key]): [string, string][] => {
    const id = metadata.get(`tokenizer.ggml.${key}_token_id`);
    const word = Array.isArray(words) && typeof id === 'number' ? filledText((words as readonly unknown[])[id]) : null;
    return word === null ? [] : [[name, word]];
  });
  return Object.fromEntries(tokens);
}

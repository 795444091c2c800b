import { openFolderCheckpoint, openGgufCheckpoint, type OpenedCheckpoint } from '../checkpoints/openCheckpoint.ts';
import { FILES } from '../checkpoints/folder.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import type { GgufHeader } from '../formats/ggufHeader.ts';
import { field, isRecord, type JsonRecord, readJson } from '../formats/json.ts';
import { FormatError } from '../formats/problem.ts';
import { chatTemplate, type ChatTemplate, type TemplateTokens } from '../text/chatTemplate.ts';
import type { Codec } from '../text/codec.ts';
import { codecFromGguf } from '../text/ggufVocabulary.ts';
import { codecFromTokenizerJson } from '../text/tokenizerFile.ts';

/** A checkpoint that can be spoken to: its headers, its tokenizer, and how it writes a conversation. */
export interface TextCheckpoint {
  readonly opened: OpenedCheckpoint;
  readonly codec: Codec;
  readonly template: ChatTemplate | null; // null: the files have none
  readonly said: { readonly name: string | null; readonly license: string | null; readonly origin: string | null };
  readonly architecture: string;
  readonly context: number | null;
}

/** A file by its path in the folder that it lies in. */
export interface PlacedSource {
  readonly path: string;
  readonly source: ByteSource;
}

const OTHER = 'Choose a checkpoint whose files belong together.';

/**
 * Opens a GGUF file, or the files of a Transformers folder, by headers, tokenizer and template; weights are not read. Where there is a
 * GGUF file, the others are not looked at. Throws FormatError, by file and place, with what is wrong.
 */
export async function openTextCheckpoint(files: readonly PlacedSource[]): Promise<TextCheckpoint> {
  const gguf = files.find(({ path }) => /\.gguf$/i.test(path));
  const checkpoint = gguf || files.length === 1 ? await fromGguf((gguf ?? files[0]!).source) : await fromFolder(files);
  const { opened, codec } = checkpoint;
  if (codec.size > opened.model.vocab_size) {
    const file = opened.gguf ? opened.gguf.header.file : FILES.tokenizer;
    const want = `at most ${opened.model.vocab_size}, the rows of the embedding`;
    throw new FormatError([{ file, place: 'vocabulary', got: `${codec.size} tokens`, want, remedy: OTHER }]);
  }
  return checkpoint;
}

const KINDS: Readonly<Record<string, string>> = { llama: 'Llama', qwen2: 'Qwen2', qwen3: 'Qwen3' };

async function fromGguf(source: ByteSource): Promise<TextCheckpoint> {
  const opened = await openGgufCheckpoint(source);
  const header = opened.gguf!.header;
  const key = (name: string) => header.metadata.get(name);
  const text = (name: string) => textOrNull(key(name));
  const kind = text('general.architecture') ?? '';
  const template = text('tokenizer.chat_template');
  const context = key(`${kind}.context_length`);
  return {
    opened,
    codec: codecFromGguf(header),
    template: template === null ? null : chatTemplate(template, ggufTokens(header), source.name),
    said: {
      name: text('general.name'),
      license: text('general.license'),
      origin: text('general.source.url') ?? text('general.repo_url') ?? text('general.organization'),
    },
    architecture: KINDS[kind] ?? kind,
    context: typeof context === 'number' && context > 0 ? context : null,
  };
}

function ggufTokens({ metadata }: GgufHeader): TemplateTokens {
  const words = metadata.get('tokenizer.ggml.tokens');
  const word = (name: string) => {
    const id = metadata.get(`tokenizer.ggml.${name}`);
    return Array.isArray(words) && typeof id === 'number' ? textOrNull((words as readonly unknown[])[id]) : null;
  };
  return templateTokens(word('bos_token_id'), word('eos_token_id'));
}

const templateTokens = (bos: string | null, eos: string | null): TemplateTokens => ({
  ...(bos !== null && { bos_token: bos }),
  ...(eos !== null && { eos_token: eos }),
});

const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

async function fromFolder(files: readonly PlacedSource[]): Promise<TextCheckpoint> {
  // files of one folder: the one that has config.json, not what lies deeper
  const config = files.find(({ path }) => path.split('/').at(-1) === FILES.config);
  const folder = config?.path.slice(0, -FILES.config.length) ?? '';
  const byName = new Map(files.map(({ path, source }) => [path.replace(folder, ''), source]));
  const sourceOf = (name: string) => byName.get(name) ?? null;
  const opened = await openFolderCheckpoint(sourceOf);
  const side = async (name: string) => {
    const source = sourceOf(name);
    return source ? record(name, await source.read(0, Math.min(source.size, MOST_SIDE))) : null;
  };
  const settings = await side(FILES.config);
  const tokenizer = sourceOf(FILES.tokenizer);
  if (!tokenizer) {
    const remedy = 'Choose the whole folder, with its tokenizer.json.';
    throw new FormatError([{ file: FILES.tokenizer, place: '', got: 'no such file', want: 'one', remedy }]);
  }
  const generation = await side(FILES.generation);
  const tokenizerConfig = await side(FILES.tokenizerConfig);
  const named = ids(generation && field(generation, 'eos_token_id'));
  const stops = named.length > 0 ? named : ids(settings && field(settings, 'eos_token_id'));
  const codec = codecFromTokenizerJson(await tokenizer.read(0, tokenizer.size), { stops });
  const context = settings && field(settings, 'max_position_embeddings');
  const [kind] = [settings && field(settings, 'model_type')].filter((value) => typeof value === 'string');
  return {
    opened,
    codec,
    template: await folderTemplate(sourceOf, tokenizerConfig),
    said: { name: null, ...(await cardOf(sourceOf)) },
    architecture: KINDS[kind ?? ''] ?? 'Llama',
    context: typeof context === 'number' && context > 0 ? context : null,
  };
}

/** Larger side files are cut off; none that is published comes near it. */
const MOST_SIDE = 1 << 26;

function record(file: string, bytes: Uint8Array): JsonRecord | null {
  const value = readJson(file, bytes);
  return isRecord(value) ? value : null;
}

const ids = (value: unknown): readonly number[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter((id) => Number.isInteger(id)) as number[];

/** The template of chat_template.jinja, else of tokenizer_config.json, where several have names that of `default`. */
async function folderTemplate(
  sourceOf: (name: string) => ByteSource | null,
  config: JsonRecord | null,
): Promise<ChatTemplate | null> {
  const word = (name: string) => {
    const value = config && field(config, name);
    return textOrNull(isRecord(value) ? field(value, 'content') : value);
  };
  const tokens = templateTokens(word('bos_token'), word('eos_token'));
  const file = sourceOf(FILES.template);
  if (file) return chatTemplate(new TextDecoder().decode(await file.read(0, file.size)), tokens, FILES.template);
  const given = config && field(config, 'chat_template');
  const named = Array.isArray(given)
    ? (given as readonly unknown[]).filter(isRecord).find((each) => field(each, 'name') === 'default')
    : undefined;
  const text = textOrNull(named ? field(named, 'template') : given);
  return text === null ? null : chatTemplate(text, tokens, FILES.tokenizerConfig);
}

/** What the front matter of a model card says. */
async function cardOf(
  sourceOf: (name: string) => ByteSource | null,
): Promise<Pick<TextCheckpoint['said'], 'license' | 'origin'>> {
  const file = sourceOf(FILES.card);
  const head = file ? new TextDecoder().decode(await file.read(0, Math.min(file.size, 1 << 16))) : '';
  const matter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(head)?.[1] ?? '';
  const line = (name: string) =>
    new RegExp(`^${name}:[ \\t]*["']?([^"'\\r\\n]+)`, 'm').exec(matter)?.[1]?.trim() ?? null;
  return { license: line('license'), origin: line('base_model') };
}

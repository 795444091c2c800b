import { MISMATCH_REMEDY } from '../checkpoints/tensorFit.ts';
import { visible } from '../base/visible.ts';
import { openFolderCheckpoint, openGgufCheckpoint, type OpenedCheckpoint } from '../checkpoints/openCheckpoint.ts';
import { FILE_NAMES } from '../checkpoints/checkpointFolder.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { ggufFiles } from '../base/ggufFiles.ts';
import { field, filledText } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import type { ChatTemplate } from '../text/chatTemplate.ts';
import type { Codec } from '../text/codec.ts';
import { codecFromGguf } from '../text/ggufVocabulary.ts';
import { openTokenizerJson } from '../text/tokenizerFile.ts';
import { type FolderFiles, ggufTemplate, readPromptFiles, readFolderFile, readFolderObject } from './promptFiles.ts';
import type { ModelCard } from '../domain/modelCard.ts';
import { parameterCount } from '../model/architecture.ts';
import { type BaseCheckpoint, fullMark } from '../checkpoints/baseCheckpoint.ts';

export interface TextCheckpoint {
  readonly opened: OpenedCheckpoint;
  readonly codec: Codec;
  readonly template: ChatTemplate | null; // null: the files have none
  readonly metadata: { readonly name: string | null; readonly license: string | null; readonly origin: string | null };
  readonly architecture: string;
  readonly context: number | null; // longest text that the model was made for, in tokens; null: the files don't say
}

export interface FileInFolder {
  readonly path: string;
  readonly source: ByteSource;
}

/**
 * Opens a GGUF file or the files of a Transformers folder. It reads headers, tokenizer and template, but no weights. If
 * there is a GGUF file, all files except it and the other parts of its model are ignored. Throws ProblemError with file
 * and place if something is wrong.
 */
export async function openTextCheckpoint(files: readonly FileInFolder[]): Promise<TextCheckpoint> {
  const [gguf, ...parts] = ggufFiles(files);
  const checkpoint = gguf || files.length === 1 ? await fromGguf(gguf ?? files[0]!, parts) : await fromFolder(files);
  const { opened, codec } = checkpoint;
  if (codec.size > opened.model.vocab_size) {
    const file = opened.gguf ? opened.gguf.header.file : FILE_NAMES.tokenizer;
    const want = `at most ${opened.model.vocab_size}, the rows of the embedding`;
    throw new ProblemError([{ file, place: 'vocabulary', got: `${codec.size} tokens`, want, remedy: MISMATCH_REMEDY }]);
  }
  return checkpoint;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { llama: 'Llama', qwen2: 'Qwen2', qwen3: 'Qwen3' };

async function fromGguf({ source }: FileInFolder, parts: readonly FileInFolder[]): Promise<TextCheckpoint> {
  const opened = await openGgufCheckpoint(
    source,
    parts.map((part) => part.source),
  );
  const header = opened.gguf!.header;
  const valueOf = (name: string) => header.metadata.get(name);
  const text = (name: string) => filledText(valueOf(name));
  const kind = text('general.architecture') ?? '';
  const context = valueOf(`${kind}.context_length`);
  return {
    opened,
    codec: codecFromGguf(header),
    template: ggufTemplate(header),
    metadata: {
      name: text('general.name'),
      license: text('general.license'),
      origin: text('general.source.url') ?? text('general.repo_url') ?? text('general.organization'),
    },
    architecture: ARCHITECTURES[kind] ?? kind,
    context: typeof context === 'number' && context > 0 ? context : null,
  };
}

/** The folder of the config.json with the shortest path. File names in it are relative to that folder. */
export function checkpointFolder(files: readonly FileInFolder[]): FolderFiles {
  const configs = files.filter(({ path }) => path.split('/').at(-1) === FILE_NAMES.config).map(({ path }) => path);
  const [config] = configs.sort((a, b) => a.split('/').length - b.split('/').length);
  const folder = config?.slice(0, -FILE_NAMES.config.length) ?? '';
  const byName = new Map(
    files.filter(({ path }) => path.startsWith(folder)).map(({ path, source }) => [path.slice(folder.length), source]),
  );
  return { names: [...byName.keys()].sort(), sourceOf: (name) => byName.get(name) ?? null };
}

async function fromFolder(files: readonly FileInFolder[]): Promise<TextCheckpoint> {
  const folder = checkpointFolder(files);
  const { sourceOf } = folder;
  const opened = await openFolderCheckpoint(sourceOf);
  const settings = await readFolderObject(folder, FILE_NAMES.config);
  const tokenizer = await readFolderFile(folder, FILE_NAMES.tokenizer);
  if (!tokenizer) {
    const remedy = 'Choose the whole folder, with its tokenizer.json.';
    throw new ProblemError([{ file: FILE_NAMES.tokenizer, what: 'there is no such file.', remedy }]);
  }
  const generation = await readFolderObject(folder, FILE_NAMES.generation);
  const generationStops = ids(generation && field(generation, 'eos_token_id'));
  const stops = generationStops.length > 0 ? generationStops : ids(settings && field(settings, 'eos_token_id'));
  const { padToken, codecWith } = openTokenizerJson(tokenizer);
  const { template, addedTokens, splitsSpecial } = await readPromptFiles(folder, padToken);
  const codec = codecWith({ stops, added: addedTokens, splitsSpecial, rows: opened.model.vocab_size });
  const [firstUnknown, ...otherUnknown] = addedTokens.filter(({ content }) => codec.id(content) === null);
  const moreText = otherUnknown.length > 0 ? ` and ${otherUnknown.length} more` : '';
  const remark = `${visible(firstUnknown?.content ?? '', 60)}${moreText}: listed as a token, but the model has no row for it. In a text it is read as plain characters.`;
  const context = settings && field(settings, 'max_position_embeddings');
  const [kind] = [settings && field(settings, 'model_type')].filter((value) => typeof value === 'string');
  return {
    opened: firstUnknown ? { ...opened, remarks: [...opened.remarks, remark] } : opened,
    codec,
    template,
    metadata: { name: null, ...(await cardOf(sourceOf)) },
    architecture: ARCHITECTURES[kind ?? ''] ?? 'Llama',
    context: typeof context === 'number' && context > 0 ? context : null,
  };
}

const ids = (value: unknown): readonly number[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter((id) => Number.isInteger(id)) as number[];

/** The license and the base model from the front matter of the model card. */
async function cardOf(
  sourceOf: (name: string) => ByteSource | null,
): Promise<Pick<TextCheckpoint['metadata'], 'license' | 'origin'>> {
  const file = sourceOf(FILE_NAMES.card);
  const head = file ? new TextDecoder().decode(await file.read(0, Math.min(file.size, 1 << 16))) : '';
  const frontMatter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(head)?.[1] ?? '';
  const line = (name: string) =>
    new RegExp(`^${name}:[ \\t]*["']?([^"'\\r\\n]+)`, 'm').exec(frontMatter)?.[1]?.trim() ?? null;
  return { license: line('license'), origin: line('base_model') };
}

/** The card of a checkpoint that was opened from `files`. `title` is the name of the file or folder. */
export function modelCard(checkpoint: TextCheckpoint, title: string, files: readonly FileInFolder[]): ModelCard {
  const { opened, codec, template, metadata, architecture, context } = checkpoint;
  const { model, weights, remarks } = opened;
  const byFormat = new Map<string, number>();
  for (const { format, bytes } of weights.values()) byFormat.set(format.name, (byFormat.get(format.name) ?? 0) + bytes);
  return {
    title,
    name: metadata.name,
    license: metadata.license,
    origin: metadata.origin,
    files: files.map(({ path, source }) => ({ name: path, bytes: source.size })),
    architecture,
    layers: model.num_hidden_layers,
    width: model.hidden_size,
    heads: model.num_attention_heads,
    kvHeads: model.num_key_value_heads,
    parameters: parameterCount(model),
    weights: Array.from(byFormat, ([purpose, bytes]) => ({ purpose, bytes })).sort((a, b) => b.bytes - a.bytes),
    vocabulary: model.vocab_size,
    tokenizer: codec.kind === 'bytes' ? 'byte-level BPE' : 'a word a token',
    tokens: codec.size,
    context,
    template: template === null ? 'none' : template.listsTools ? 'lists tools' : 'no tools',
    remarks,
  };
}

/**
 * Opens a GGUF file or the files of a Transformers folder as the base of a run that trains adapters. `name` is shown to
 * people. Throws ProblemError with file and place if something is wrong, also if there is no chat template, because the
 * model then can't be told about its tools.
 */
export async function openBase(name: string, files: readonly FileInFolder[]): Promise<BaseCheckpoint> {
  const { opened, codec, template } = await openTextCheckpoint(files);
  if (!template) {
    const remedy = 'Choose an instruct model, such as SmolLM2-135M-Instruct.';
    throw new ProblemError([{ file: name, place: 'chat template', got: 'none', want: 'one', remedy }]);
  }
  const mark = await fullMark(name, files);
  const { model, weights } = opened;
  return { mark, model, weights, chatTokenizer: { codec, template, embeddingRows: model.vocab_size } };
}

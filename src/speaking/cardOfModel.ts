import type { ModelCard } from '../domain/modelCard.ts';
import { parameterCount } from '../model/architecture.ts';
import type { FileInFolder, TextCheckpoint } from './textCheckpoint.ts';

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

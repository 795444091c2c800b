import { type EnvironmentFile, languageOf } from '../domain/environmentFile.ts';
export type { Files } from '../formats/zip.ts';

export const FILE_NAMES = {
  config: 'config.json',
  generation: 'generation_config.json',
  weights: 'model.safetensors',
  index: 'model.safetensors.index.json', // lists the weights' files of another program's model; never written
  tokenizer: 'tokenizer.json',
  tokenizerConfig: 'tokenizer_config.json',
  template: 'chat_template.jinja',
  specialTokens: 'special_tokens_map.json', // of another program; never written
  addedTokens: 'added_tokens.json', // of another program; never written
  valueHead: 'value_head.safetensors', // of a critic that shares the policy's transformer
  manifest: 'playground.json', // marks a folder as this project's
  training: 'training_state.safetensors', // moments, critic, reward model, pairs
  environment: 'environment.ts', // the environment that a person wrote in TypeScript, if the run trains on one
  pythonEnvironment: 'environment.py', // the environment that a person wrote in Python
  metrics: 'metrics.jsonl', // every curve, one line per update
  card: 'README.md',
  curves: 'curves.svg',
} as const;

export function environmentFileName(file: Pick<EnvironmentFile, 'name'>): string {
  return languageOf(file) === 'python' ? FILE_NAMES.pythonEnvironment : FILE_NAMES.environment;
}

/** The names of the files that this project writes into a checkpoint's folder. */
export const WRITTEN_FILES: ReadonlySet<string> = new Set(
  Object.values(FILE_NAMES).filter(
    (name) => ![FILE_NAMES.index, FILE_NAMES.specialTokens, FILE_NAMES.addedTokens].some((other) => other === name),
  ),
);

const encoder = new TextEncoder();

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

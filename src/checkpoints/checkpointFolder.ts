import { type EnvironmentFile, languageOf } from '../domain/environmentFile.ts';
export type { Files } from '../formats/zip.ts';

/** The files of a checkpoint's folder. */
export const FILES = {
  config: 'config.json',
  generation: 'generation_config.json',
  weights: 'model.safetensors',
  index: 'model.safetensors.index.json', // of another program's weights in several files; never written
  tokenizer: 'tokenizer.json',
  tokenizerConfig: 'tokenizer_config.json',
  template: 'chat_template.jinja',
  specialTokens: 'special_tokens_map.json', // of another program; never written
  addedTokens: 'added_tokens.json', // the same
  valueHead: 'value_head.safetensors', // of a critic that shares the policy's trunk
  manifest: 'playground.json', // by it a folder is known as this project's
  training: 'training_state.safetensors', // moments, critic, reward model, pairs
  environment: 'environment.ts', // that a person wrote, where the run trains on one
  pythonEnvironment: 'environment.py', // the same, written in Python
  metrics: 'metrics.jsonl', // every curve, a line an update
  card: 'README.md',
  curves: 'curves.svg',
} as const;

/** The name that a run's environment has in its folder. */
export function environmentFileName(file: Pick<EnvironmentFile, 'name'>): string {
  return languageOf(file) === 'python' ? FILES.pythonEnvironment : FILES.environment;
}

/** Names of the files that a checkpoint of this project may have. */
export const WRITTEN: ReadonlySet<string> = new Set(
  Object.values(FILES).filter(
    (name) => ![FILES.index, FILES.specialTokens, FILES.addedTokens].some((other) => other === name),
  ),
);

const encoder = new TextEncoder();

/** A text as a file. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

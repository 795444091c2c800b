import type { RunConfig } from '../config/fields.ts';
import { TEXT_AGENT } from '../config/textAgent.ts';
import { type BaseCheckpoint, BaseNeededError } from '../checkpoints/baseCheckpoint.ts';
import type { ToolEnv } from '../envs/env.ts';
import { createEnv } from '../envs/index.ts';
import type { Facts } from '../facts/facts.ts';
import type { TongueFiles } from '../domain/chatTokenizerFiles.ts';
import type { Tongue } from '../text/chatTokenizer.ts';
import type { Host } from './host.ts';
import { factsFor } from './shippedFacts.ts';

/** What an environment is made of beside its knobs. */
export interface Surroundings {
  readonly facts: Facts | null; // a person's own
  readonly tongue: TongueFiles | null; // of the run's checkpoint, where it has one; else that of the shipped text model
  readonly base?: Pick<BaseCheckpoint, 'tongue'> | null; // that a run puts adapters beside
}

/** An environment, and the texts of the tongue that is spoken in it; null where words are, or the tongue is that of a checkpoint. */
export interface OpenedEnvironment {
  readonly env: ToolEnv;
  readonly tongue: TongueFiles | null;
}

/** The environment a run asks for, with what it needs of the shipped files. Throws what `createEnv` does, where a file is missing, and BaseNeededError where a checkpoint is. */
export async function openEnvironment(
  config: RunConfig,
  { facts, tongue, base }: Surroundings,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<OpenedEnvironment> {
  const asked = await factsFor(config, facts, shippedFile);
  if (config.model === 'checkpoint') {
    if (!base) throw new BaseNeededError(null, null);
    return { env: createEnv(config, asked, base.tongue), tongue: null };
  }
  const files = await filesOf(config, tongue, shippedFile);
  return { env: createEnv(config, asked, files && (await opened(files))), tongue: files };
}

/** What a run speaks: the tongue of its checkpoint, or that of the shipped text model; null: words. Throws where a file of it is missing. */
export async function tongueOf(
  config: RunConfig,
  own: TongueFiles | null,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<Tongue | null> {
  const files = await filesOf(config, own, shippedFile);
  return files && opened(files);
}

async function filesOf({ language }: RunConfig, own: TongueFiles | null, shippedFile: Host['shippedFile']) {
  return language === 'words' ? null : (own ?? (await shippedTongue(shippedFile)));
}

const shipped = new WeakMap<Host['shippedFile'], TongueFiles>(); // the same texts each time
const open = new WeakMap<TongueFiles, Tongue>();

async function opened(files: TongueFiles): Promise<Tongue> {
  const known = open.get(files);
  if (known) return known;
  // tokenizers and templates are only loaded where text is spoken
  const tongue = (await import('../text/chatTokenizer.ts')).openTongue(files);
  open.set(files, tongue);
  return tongue;
}

async function shippedTongue(shippedFile: Host['shippedFile']): Promise<TongueFiles> {
  const known = shipped.get(shippedFile);
  if (known) return known;
  const text = async (name: string) => {
    const bytes = await shippedFile(`${TEXT_AGENT}/${name}`);
    if (bytes) return new TextDecoder().decode(bytes);
    throw new Error(`${TEXT_AGENT}/${name}: no such file; want the shipped text model. Make it: npm run textmodel.`);
  };
  const [tokenizer, template, generation] = await Promise.all(
    ['tokenizer.json', 'chat_template.jinja', 'generation_config.json'].map(text),
  );
  const { stopIds } = await import('../text/chatTokenizer.ts');
  const files = { tokenizer: tokenizer ?? '', template: template ?? '', stops: stopIds(generation ?? '') };
  shipped.set(shippedFile, files);
  return files;
}

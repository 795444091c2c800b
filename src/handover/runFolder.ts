import { ProblemError } from '../base/problem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { utf8Bytes, type Files } from '../checkpoints/checkpointFolder.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import type { RunConfig } from '../config/fields.ts';
import type { Engine } from '../config/mappedKnob.ts';
import type { EpisodeSeeds, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Facts } from '../facts/facts.ts';
import type { PackedRun } from '../runs/packed.ts';
// oxlint-disable-next-line import/default -- `?program` imports a script as the default
import wordProgram from './machine/wordEpisodes.ts?program';
import { machineFiles } from './machineFiles.ts';
import environmentModule from './python/playground_env.py?raw';
import { runReadme } from './readme.ts';
import { type RunFolder, rulesOf, type TaskRow, taskRows } from './taskRows.ts';
import { trlRunFiles } from './trlFiles.ts';
import { verlRunFiles } from './verlFiles.ts';

/** A run to hand over: with a checkpoint, its environment, and the seeds of the tasks to train on and to evaluate. */
export interface RunToHandOver {
  readonly run: PackedRun;
  readonly env: ToolEnv;
  readonly facts: Facts | null; // the facts that the environment was made from
  readonly train: readonly EpisodeSeeds[];
  readonly val: readonly EpisodeSeeds[];
  /** The virtual machine: the bytes of `quickjs-wasi/quickjs.wasm`. */
  readonly quickjsWasm: Uint8Array;
}

/** Throws ProblemError if a run can’t be handed over: it trains adapters, uses text, or a person wrote its environment. */
export function checkHandover({ env: name, language, model }: Pick<RunConfig, 'env' | 'language' | 'model'>): void {
  if (name !== YOUR_ENVIRONMENT && language !== 'text' && model !== 'checkpoint') return;
  throw new ProblemError(
    name === YOUR_ENVIRONMENT
      ? `An environment that you wrote goes to other frameworks with its own file: npm run environment -- FILE.ts --export FOLDER writes it for TRL, verifiers, OpenEnv and verl. Export the run itself as a Hugging Face folder.`
      : model === 'checkpoint'
        ? `A run with model=checkpoint can’t be handed over: the folder trains a small network that reads words, and this run trains adapters (LoRA) of a language model. Export the run instead, as an adapter for PEFT or merged into its checkpoint.`
        : `${name} with language=text can’t be handed over: the folder plays in words, not in calls in JSON. Export the run as a Hugging Face folder for its model and tokenizer, or train it with language=words and hand that over.`,
  );
}

/** The tasks and rules of a run as data. */
function runFolder({ run, env, facts, train, val }: RunToHandOver): RunFolder {
  const { config } = run; // of the last update; knobs that were changed since then don't count
  const rows = { train: taskRows({ env, config }, 'train', train), val: taskRows({ env, config }, 'val', val) };
  const lengths = [...rows.train, ...rows.val].map(({ prompt }) => (prompt[0]?.content.split(' ').length ?? 0) + 1);
  const longestPrompt = lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const [first = { seed: 0, environmentSeed: 0 }] = train;
  const firstTurn = env.reset(first.seed, envSettings(config), first.environmentSeed).expert();
  return {
    ...{ config, longestPrompt, rules: rulesOf(env, config, facts), name: run.name, ...rows },
    update: run.checkpoint.progress.update,
    example: firstTurn.map((id) => env.vocabulary[id] ?? '').join(' '),
  };
}

/** The program of a built-in environment, for `machineFiles`. */
export const BUILT_IN_PROGRAM = `(function (exports, rules) { exports.default = (${wordProgram})().environmentOf(rules); })`;

/** Writes a run as a folder that trains the same task with an engine. */
export function runFiles(engine: Engine, source: RunToHandOver): Files {
  const folder = runFolder(source);
  const lines = (rows: readonly TaskRow[]) => utf8Bytes(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return new Map([
    ['README.md', utf8Bytes(runReadme(engine, folder))],
    ...(engine === 'verl' ? verlRunFiles(folder) : trlRunFiles(folder)),
    ['playground_env.py', utf8Bytes(environmentModule)],
    ...machineFiles(BUILT_IN_PROGRAM, folder.rules, source.quickjsWasm),
    ['train.jsonl', lines(folder.train)],
    ['val.jsonl', lines(folder.val)],
    ...Array.from(checkpointFiles(source.run), ([name, bytes]) => [`model/${name}`, bytes] as const),
  ]);
}

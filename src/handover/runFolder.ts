import { ProblemError } from '../base/problem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { utf8Bytes, type Files } from '../checkpoints/checkpointFolder.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import type { RunConfig } from '../config/fields.ts';
import type { Engine } from '../config/mappedKnob.ts';
import type { EpisodeSeeds, Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { PackedRun } from '../runs/packed.ts';
import environmentModule from './python/playground_env.py?raw';
import { runReadme } from './readme.ts';
import { trlRunFiles } from './trlFiles.ts';
import { verlRunFiles } from './verlFiles.ts';
import { type RunFolder, rulesOf, type TaskRow, taskRows } from './taskRows.ts';

/** A run to hand over: with a checkpoint, its environment, and the seeds of the tasks to train on and to evaluate. */
export interface RunToHandOver {
  readonly run: PackedRun;
  readonly env: ToolEnv;
  readonly train: readonly EpisodeSeeds[];
  readonly val: { readonly begin: Reset; readonly seeds: readonly EpisodeSeeds[] };
}

/**
 * The error for a run that can’t be handed over, because it trains adapters, uses text, or has an environment without
 * rules in Python.
 */
export function handoverProblem(
  { name }: Pick<ToolEnv, 'name'>,
  { language, model }: Pick<RunConfig, 'language' | 'model'>,
): ProblemError {
  return new ProblemError(
    name === YOUR_ENVIRONMENT
      ? `An environment that you wrote goes to other frameworks with its own file: npm run environment -- FILE.ts --export FOLDER writes it for TRL, verifiers, OpenEnv and verl. Export the run itself as a Hugging Face folder.`
      : model === 'checkpoint'
        ? `A run with model=checkpoint can’t be handed over: the folder trains a small network that reads words, and this run trains adapters (LoRA) of a language model. Export the run instead, as an adapter for PEFT or merged into its checkpoint.`
        : language === 'text'
          ? `${name} with language=text can’t be handed over: the rules in the folder read words, not calls in JSON. Export the run as a Hugging Face folder for its model and tokenizer, or train it with language=words and hand that over.`
          : `${name} can’t be handed over: its rules exist only in TypeScript. Number hunt, multi-hop search, world facts, your facts, document search and the calculator can.`,
  );
}

/** Throws ProblemError unless the folder's rules in Python can play the run's tasks exactly like the page. */
export function checkHandover(env: ToolEnv, config: RunConfig): void {
  if (!env.rulesData || config.language === 'text' || config.model === 'checkpoint') throw handoverProblem(env, config);
}

/** The tasks and rules of a run as data. Throws ProblemError if its environment has no rules in Python. */
function runFolder({ run, env, train, val }: RunToHandOver): RunFolder {
  const { config } = run; // of the last update; knobs that were changed since then don't count
  const rules = rulesOf(env, config);
  if (!rules) throw handoverProblem(env, config);
  const rows = {
    train: taskRows({ env, config, begin: env.reset }, 'train', train),
    val: taskRows({ env, config, begin: val.begin }, 'val', val.seeds),
  };
  const lengths = [...rows.train, ...rows.val].map(({ prompt }) => (prompt[0]?.content.split(' ').length ?? 0) + 1);
  const longestPrompt = lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const [first = { seed: 0, environmentSeed: 0 }] = train;
  const firstTurn = env.reset(first.seed, envSettings(config), first.environmentSeed).expert();
  const example = firstTurn.map((id) => env.vocabulary[id] ?? '').join(' ');
  return { config, rules, ...rows, longestPrompt, name: run.name, update: run.checkpoint.progress.update, example };
}

/** The files for both engines: rules, tasks, and in model/ the checkpoint with its tokenizer. */
function sharedFiles({ rules, train, val }: RunFolder, run: PackedRun): Files {
  const lines = (rows: readonly TaskRow[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return new Map([
    ['playground_env.py', utf8Bytes(environmentModule)],
    ['environment.json', utf8Bytes(`${JSON.stringify(rules)}\n`)],
    ['train.jsonl', utf8Bytes(lines(train))],
    ['val.jsonl', utf8Bytes(lines(val))],
    ...Array.from(checkpointFiles(run), ([name, bytes]) => [`model/${name}`, bytes] as const),
  ]);
}

/**
 * Writes a run as a folder that trains the same task with an engine. Throws ProblemError if its environment has no
 * rules in Python.
 */
export function runFiles(engine: Engine, source: RunToHandOver): Files {
  const folder = runFolder(source);
  const engineFiles = engine === 'verl' ? verlRunFiles(folder) : trlRunFiles(folder);
  const readme = utf8Bytes(runReadme(engine, folder));
  return new Map([['README.md', readme], ...engineFiles, ...sharedFiles(folder, source.run)]);
}

import { readFlags } from '../../tools/flags.mjs';
import { parseDecimal } from '../base/decimal.ts';
import { textModelFiles, textModelCard } from '../checkpoints/textModelFiles.ts';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { PRESETS } from '../config/presets.ts';
import { TEXT_AGENT, TEXT_AGENT_SIZES, TEXT_QUALITY, TEXT_RECIPE } from '../config/textAgent.ts';
import type { ToolEnv } from '../envs/env.ts';
import { createEnv } from '../envs/index.ts';
import { learningMath } from '../rl/plainLearningMath.ts';
import { type DemonstratedEnv, demonstrations, warmStart } from '../rl/warmStart.ts';
import { modelConfig } from '../model/architecture.ts';
import { createCpuPolicy } from '../model/cpu/cpuPolicy.ts';
import { factsFor } from '../session/shippedFacts.ts';
import { AGENT_STOPS, agentTokenizer, AGENT_TEMPLATE } from '../text/agentTokenizer.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { openChatTokenizer, type ChatTokenizer } from '../text/chatTokenizer.ts';
import { writableFolder, writeWhole } from './files.ts';
import { nodeHost, PUBLIC_FOLDER } from './nodeHost.ts';
import { program } from './program.ts';

const USAGE =
  'npm run textmodel [-- --steps N]   (trains the tokenizer and the text model that are shipped, from nothing)';
const ENVS = Object.keys(TEXT_QUALITY) as (keyof typeof TEXT_QUALITY)[];
// The seed of the shipped files; changing it changes every run that begins from them.
const SEED = 20;
const VOCABULARY_SIZE = 1024;
/** Number of episodes of each environment on which the tokenizer is trained. */
const EPISODES_PER_ENVIRONMENT = 400;
/** Number of steps between two saves, so that a long training that is stopped early leaves a model. */
const SAVE_EVERY = 250;

/** `npm run textmodel`: trains a tokenizer on episodes of the environments, then a model that imitates all their demonstrators at once. */
async function main(args: readonly string[]): Promise<number> {
  const steps = stepsOf(args);
  const folder = `${PUBLIC_FOLDER}/${TEXT_AGENT}`;
  await writableFolder(folder);
  const byteTokenizer = openChatTokenizer({
    tokenizer: agentTokenizer([], 0),
    template: AGENT_TEMPLATE,
    stops: AGENT_STOPS,
  });
  const texts = (await demonstratedEnvs(byteTokenizer)).flatMap((each) => episodeTexts(each, byteTokenizer));
  const files: ChatTokenizerFiles = {
    tokenizer: agentTokenizer(texts, VOCABULARY_SIZE),
    template: AGENT_TEMPLATE,
    stops: AGENT_STOPS,
  };
  const chatTokenizer = openChatTokenizer(files);
  const demonstrated = await demonstratedEnvs(chatTokenizer);
  for (const { env } of demonstrated)
    console.error(env.name, `${env.maxTokens} tokens an episode, ${env.maxTurnTokens} a turn at most`);
  const rows = TEXT_RECIPE.rows ?? 0;
  const model = modelConfig(parseConfig(TEXT_AGENT_SIZES), chatTokenizer.codec.size, false);
  const length = Math.max(...demonstrated.map(({ env }) => env.maxTokens));
  const policy = createCpuPolicy({ model, critic: 'none', rows, length, minibatchRows: rows }, learningMath, {
    seed: SEED,
    reason: '',
  });
  const recipe = { ...TEXT_RECIPE, steps, quality: 0 };
  const save = async () => {
    const { policy: network } = await policy.readState();
    for (const [name, bytes] of textModelFiles(
      model,
      network.weights,
      files,
      textModelCard(model, recipe, TEXT_QUALITY),
    )) {
      await writeWhole(`${folder}/${name}`, bytes);
    }
  };
  const yieldToEvents = () => new Promise<void>((resolve) => setImmediate(resolve));
  const began = performance.now();
  for await (const step of warmStart({ policy, env: demonstrated, seed: SEED, recipe: () => recipe, yieldToEvents })) {
    if (step % 50 === 0) console.error(step, `${((performance.now() - began) / 1000).toFixed(0)} s`);
    if (step % SAVE_EVERY === 0) await save();
  }
  await save();
  return 0;
}

/** The environments with their presets' knobs and this chat tokenizer, each with the quality of its demonstrator. */
async function demonstratedEnvs(chatTokenizer: ChatTokenizer): Promise<readonly DemonstratedEnv[]> {
  const { shippedFile } = await nodeHost(false);
  return Promise.all(
    ENVS.map(async (name) => {
      const config = parseConfig({ ...PRESETS[name].set, env: name, language: 'text', names: 'own' });
      const facts = await factsFor(config, null, shippedFile);
      return { env: createEnv(config, facts, chatTokenizer), quality: TEXT_QUALITY[name] };
    }),
  );
}

function episodeTexts(demonstrated: DemonstratedEnv, chatTokenizer: ChatTokenizer): readonly string[] {
  const env: ToolEnv = demonstrated.env;
  const record = demonstrations([demonstrated], {
    seed: SEED,
    step: 0,
    rows: EPISODES_PER_ENVIRONMENT,
    length: env.maxTokens,
  });
  return Array.from(record.lengths, (length, row) =>
    chatTokenizer.codec.decode(Array.from(record.tokens.subarray(row * env.maxTokens, row * env.maxTokens + length))),
  );
}

function stepsOf(args: readonly string[]): number {
  const { given, problems } = readFlags(args, { steps: 'value' }, { words: 0 });
  const steps = given.steps === undefined ? TEXT_RECIPE.steps : (parseDecimal(given.steps) ?? NaN);
  if (!Number.isInteger(steps) || steps < 1)
    problems.push({ what: `--steps can’t be ${given.steps ?? ''}.`, remedy: 'Use a whole number from 1.' });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return steps;
}

await program('textmodel', USAGE, main);

// Episodes of every environment that is handed over, as the page plays them: test_handover.py plays them again in Python.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Purpose, random, type Random } from '../../../src/base/rng.ts';
import { parseConfig, type RunConfig } from '../../../src/config/config.ts';
import type { EnvName } from '../../../src/config/environments.ts';
import { createEnv, envSettings } from '../../../src/envs/index.ts';
import { demonstrator, expertPlayer, type Player } from '../../../src/envs/players.ts';
import { openEpisode, type Stepper } from '../../../src/envs/stepper.ts';
import { parseFacts } from '../../../src/facts/parse.ts';
import { ENGINES } from '../../../src/config/mappedKnob.ts';
import { machineFiles } from '../../../src/handover/machineFiles.ts';
import { BUILT_IN_PROGRAM } from '../../../src/handover/runFolder.ts';
import { rulesOf } from '../../../src/handover/taskRows.ts';
import { evaluatedReset } from '../../../src/rl/evaluatedTasks.ts';
import { packedRun } from '../../../src/runs/packed.ts';
import { runWithDefaults } from '../../../src/runs/run.ts';
import { handOver } from '../../../src/session/handOverRun.ts';
import type { Host } from '../../../src/session/host.ts';
import { openSession } from '../../../src/session/session.ts';
import { Role } from '../../../src/domain/tokens.ts';

const out = process.argv[2] ?? '.';
const quickjsWasm = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
/** Writes a file of a folder, with the folders it lies in. */
function write(folder: string, file: string, content: string | Uint8Array): void {
  const to = path.join(out, folder, file);
  mkdirSync(path.dirname(to), { recursive: true });
  writeFileSync(to, content);
}

const EPISODES = process.env['SLOW_CASES'] ? 1000 : 80;

// Penalties, process reward, failures, delays, distractors, thinking and free text, each in some of four settings.
const SETTINGS = [
  { processReward: 0.2, turnCost: 0.05 },
  {
    failureRate: 0.3,
    latency: 1.5,
    distractors: 2,
    grammar: 'off',
    invalidPenalty: 0.25,
    processReward: 1,
    callReward: 0.2,
  },
  { think: 'on', thinkReward: 0.3, processReward: 0.5, grammar: 'off', outcomeReward: 2 },
  { failureRate: 0.1, latency: 0.4, distractors: 5, think: 'on', thinkReward: 1, maxTurns: 7, turnCost: 0.1 },
] as const satisfies readonly Partial<RunConfig>[];
const OWN: Readonly<Partial<Record<EnvName, readonly Partial<RunConfig>[]>>> = {
  'number-hunt': [{ range: 16 }, { range: 33 }, { range: 64 }, { range: 2 }],
  calculator: [{ hops: 2 }, { hops: 3, maxTurns: 5 }, { hops: 1 }, { hops: 4 }],
  'multi-hop': [{ hops: 2 }, { hops: 3, entities: 20 }, { retriever: 'first' }, { hops: 4, relations: 7 }],
  'world-facts': [{ hops: 2 }, { names: 'own' }, { retriever: 'question' }, { hops: 3, entities: 20, relations: 5 }],
  'document-search': [
    { topPassages: 1 },
    { topPassages: 3, answerReward: 'f1' },
    { topPassages: 2 },
    { oneHopShare: 0.5 },
  ],
  'frozen-lake': [{ size: 4 }, { slip: 0.3 }, { sight: 'name' }, { slip: 0.1, ends: 'corners' }],
  sokoban: [{ size: 5 }, { size: 6 }, { size: 5, maxTurns: 4 }, { size: 4 }],
  bandit: [{}, {}, {}, {}],
  'bandit-reversed': [{}, {}, {}, {}],
  countdown: [{}, {}, {}, {}],
};

/** Expert, demonstrator, tokens drawn among the legal ones, or a mix of them that changes from turn to turn. */
function player(at: number, draw: Random): Player {
  const some = demonstrator(0.6, draw);
  const token: Player = (stepper) => [draw.pick(stepper.allowed())];
  return (stepper) => {
    const kind = at % 4 === 3 ? (stepper.turnLength > 0 ? 2 : draw.int(3)) : at % 4;
    return stepper.turnLength > 0 && kind !== 2
      ? token(stepper)
      : ([expertPlayer, some, token][kind] ?? token)(stepper);
  };
}

/** An episode to its end; a scripted turn that is not legal where it would stand is drawn. */
function play(stepper: Stepper, who: Player, draw: Random): void {
  while (stepper.stop === null) {
    const { turn } = stepper;
    for (const token of who(stepper)) {
      if (stepper.budget === 0 || stepper.turn !== turn) break;
      stepper.take(stepper.allows(token) ? token : draw.pick(stepper.allowed()));
    }
  }
}

for (const [name, own] of Object.entries(OWN)) {
  const world = readFileSync('public/worlds/countries.csv');
  const facts = name.endsWith('-facts') ? parseFacts('countries.csv', world).facts : null;
  SETTINGS.forEach((settings, variant) => {
    const config = parseConfig({ env: name, ...settings, ...own[variant] });
    const env = createEnv(config, facts);
    const lines = Array.from({ length: EPISODES / SETTINGS.length }, (_, i) => {
      const draw = random(41 + variant, Purpose.demonstration, i);
      const seeds = { seed: 1000 * variant + i, environmentSeed: (77 * i + variant) >>> 0 };
      const split = i % 5 === 4 ? 'val' : 'train';
      const begin = split === 'val' ? evaluatedReset(env) : env.reset;
      const stepper = openEpisode({ env, settings: envSettings(config), begin }, seeds);
      play(stepper, player(i, draw), draw);
      const words = (turn: number, role: Role) =>
        stepper.tokens.filter((t) => t.turn === turn && t.role === role).map(({ token }) => env.vocabulary[token]);
      return JSON.stringify({
        ...{
          split,
          seed: seeds.seed,
          environment_seed: seeds.environmentSeed,
          stop: stepper.stop,
          success: stepper.success,
          parts: stepper.rewardSums,
        },
        turns: stepper.finishedTurns.map(({ turn, parts, valid, toolCall, waited }) => ({
          ...{ action: words(turn, Role.action), observation: words(turn, Role.observation) },
          ...{ parts, valid, toolCall, waited },
        })),
        cut: words(stepper.finishedTurns.length + 1, Role.action), // of a turn that was cut
      });
    });
    const folder = `${name}-${variant}`;
    const files = machineFiles(BUILT_IN_PROGRAM, rulesOf(env, config, facts), quickjsWasm);
    for (const [file, bytes] of files) write(folder, file, bytes);
    write(folder, 'playground_env.py', readFileSync('src/handover/python/playground_env.py'));
    write(folder, 'episodes.jsonl', `${lines.join('\n')}\n`);
  });
}

// Folders of both engines, from runs that are small: test_handover.py trains the one and loads the other.
const host: Host = {
  gpu: undefined,
  shippedFile: (file) => Promise.resolve(new Uint8Array(readFileSync(path.join('public', file))).buffer),
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
};
const TINY = {
  layers: 1,
  width: 32,
  heads: 2,
  kvHeads: 2,
  ffn: 32,
  warmStart: 'train',
  imitationSteps: 30,
  backend: 'cpu',
};
const FOLDERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'number-hunt': { env: 'number-hunt', prompts: 4, groupSize: 4, minibatches: 2, epochs: 1, updates: 2, latency: 0.5 },
  'multi-hop': {
    env: 'multi-hop',
    estimator: 'gae',
    critic: 'separate',
    klCoef: 0.01,
    prompts: 4,
    groupSize: 2,
    updates: 2,
  },
};
for (const [name, knobs] of Object.entries(FOLDERS)) {
  const config = parseConfig({ ...TINY, ...knobs, evalTasks: 8 });
  const session = await openSession(config, host, () => undefined);
  while (session.isImitating()) await session.events.next();
  const checkpoint = await session.checkpoint();
  const run = packedRun({
    ...runWithDefaults({ id: 1, name, started: '2026-01-01T00:00:00.000Z', begun: config }),
    checkpoint,
  });
  for (const engine of ENGINES) {
    const files = await handOver(engine, run, { ...host, quickjsWasm: () => Promise.resolve(quickjsWasm) });
    for (const [file, bytes] of files) write(`${engine}-${name}`, file, bytes);
  }
  session.dispose();
}

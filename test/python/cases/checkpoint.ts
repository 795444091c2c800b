// Writes four exported runs, one of each form a model can have, each in an environment of its own, and beside each what the page's
// CPU backend makes of 25 episodes: ids, text, roles, turns and logits, played greedily without the grammar mask and with it.
import path from 'node:path';
import { checkpointFiles } from '../../../src/checkpoints/write.ts';
import { nodeHost } from '../../../src/cli/nodeHost.ts';
import { writeFolder } from '../../../src/cli/diskFolders.ts';
import { parseConfig, type RunConfig } from '../../../src/config/config.ts';
import { Role } from '../../../src/domain/tokens.ts';
import { envSettings } from '../../../src/envs/index.ts';
import { encodeSafetensors, type SafeTensor } from '../../../src/formats/safetensors.ts';
import { createCpuPolicy, type CpuPolicy } from '../../../src/model/cpu/cpuPolicy.ts';
import { evaluatedReset } from '../../../src/rl/evaluatedTasks.ts';
import { learningMath } from '../../../src/rl/plainLearningMath.ts';
import type { EpisodeRecord } from '../../../src/rl/episodeRecord.ts';
import { rollout } from '../../../src/rl/rollout.ts';
import { evalSampling, evalTaskSeed } from '../../../src/rl/settings.ts';
import { runWithDefaults } from '../../../src/runs/run.ts';
import { packedRun } from '../../../src/runs/packed.ts';
import { RunLog } from '../../../src/runs/runLog.ts';
import { openSession, type Session } from '../../../src/session/session.ts';

const EPISODES = process.env['SLOW_CASES'] ? 25 : 6;
const UPDATES = 3;
const COMMON = {
  ...{
    prompts: 5,
    groupSize: 5,
    minibatches: 1,
    updates: UPDATES,
    evalEvery: 3,
    evalTasks: 16,
    backend: 'cpu',
    seed: 23,
  },
  ...{ warmStart: 'train', imitationSteps: 80, learningRate: 0.01 }, // steps large enough for biases to matter
};
const CASES: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  'llama-tied': { env: 'number-hunt', critic: 'shared' },
  'llama-untied': { env: 'multi-hop', tieEmbeddings: 'off', kvHeads: 2, critic: 'none', estimator: 'grpo' },
  'qwen2-tied': { env: 'calculator', attentionBias: 'on', kvHeads: 1, layers: 3, estimator: 'gae' },
  'qwen2-untied': {
    env: 'frozen-lake',
    attentionBias: 'on',
    tieEmbeddings: 'off',
    width: 48,
    heads: 3,
    kvHeads: 3,
    think: 'on',
  },
};

const out = process.argv[2] ?? '.';
for (const [form, knobs] of Object.entries(CASES)) {
  const config = parseConfig({ ...COMMON, ...knobs });
  const log = new RunLog(runWithDefaults({ id: 1, name: form, started: '2026-01-02T03:04:05.000Z', begun: config }));
  const host = await nodeHost(false);
  const session = await openSession(config, host, (event) => event.type === 'ready' && log.add(event));
  for await (const event of session.events) {
    if (event.type === 'answer' || event.type === 'checkpoint' || event.type === 'alive') continue;
    log.add(event);
    if (log.finished) break;
  }
  const run = packedRun({ ...log.run, checkpoint: await session.checkpoint() });
  await writeFolder(path.join(out, form), checkpointFiles(run, form.startsWith('qwen2') ? 'qwen2' : 'llama'));
  if (form.startsWith('qwen2')) await writeFolder(path.join(out, `${form}.llama`), checkpointFiles(run));
  await writeFolder(
    path.join(out, `${form}.page`),
    new Map([['episodes.safetensors', await episodesOf(session, config)]]),
  );
  session.dispose();
}

/** What the page makes of held-out tasks. */
async function episodesOf(session: Session, config: RunConfig): Promise<Uint8Array> {
  const { env, policy } = session;
  const spec = {
    model: policy.model,
    critic: 'none',
    rows: EPISODES,
    length: policy.length,
    minibatchRows: 1,
  } as const;
  const reader = createCpuPolicy(spec, learningMath, { seed: 1, reason: '' });
  reader.writeWeights((await policy.readState()).policy.weights);
  const { next, states, vocabulary } = env.grammar(true);
  const tensors = new Map<string, SafeTensor>([['grammar', { shape: [states, vocabulary], values: next }]]);
  for (const grammar of [false, true]) {
    const { record } = await rollout(
      reader,
      env,
      {
        tasks: Array.from({ length: EPISODES }, (_, i) => ({
          seed: evalTaskSeed(config.seed, i),
          environmentSeed: evalTaskSeed(config.seed, i),
        })),
        groups: new Int32Array(EPISODES),
        settings: { ...envSettings(config), grammar },
        begin: evaluatedReset(env),
        sampling: evalSampling(config, 0, true),
        chunk: 16,
      },
      () => Promise.resolve(),
    );
    for (const [name, tensor] of await columns(record, reader))
      tensors.set(`${grammar ? 'masked' : 'free'}.${name}`, tensor);
  }
  return new Uint8Array(encodeSafetensors(tensors));
}

async function columns(record: EpisodeRecord, reader: CpuPolicy): Promise<readonly (readonly [string, SafeTensor])[]> {
  reader.load({ tokens: record.tokens, roles: record.roles, states: record.states });
  const shape = [record.rows, record.length];
  const actions = record.roles.map((role) => Number(role === Role.action));
  const vocabulary = reader.model.vocab_size;
  return [
    ['tokens', { shape, values: record.tokens }],
    ['actions', { shape, values: actions }],
    ['turns', { shape, values: record.turns }],
    ['states', { shape, values: record.states }],
    ['lengths', { shape: [record.rows], values: record.lengths }],
    ['logits', { shape: [...shape, vocabulary], values: Float32Array.from(await reader.logits()) }],
  ];
}

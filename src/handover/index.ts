import { type Files, utf8Bytes } from '../checkpoints/checkpointFolder.ts';
import { handoverFolder, type HandoverSource, sharedFiles, type HandoverFolder } from './handoverFolder.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { trlFiles, TRL_VERSION } from './trlFiles.ts';
import { verlFiles, VERL_VERSION } from './verlFiles.ts';
import { mappedKnobs } from './mapping.ts';

/**
 * README.md of a folder: what to install and run, its files, the counterpart of every knob, and what does not carry
 * over.
 */
function readmeFile(engine: Engine, folder: HandoverFolder): Uint8Array {
  const { rules, name, update, config, train, val, example } = folder;
  const { run, files } = ENGINE_PARTS[engine];
  return utf8Bytes(`# ${rules.name} with ${engine === 'verl' ? 'verl' : 'TRL'}

${rules.description} This folder trains the same task, with the same words and rewards, as the run ${JSON.stringify(name)} of Rollout Playground
after update ${update}. It has ${train.length} training tasks (${config.updates} updates of ${config.prompts} tasks, ${config.groupSize} rollouts each) and ${val.length} evaluation tasks.

${run}
${engine === 'verl' ? verlSizes(folder) : ''}
## Files

| file | what it is |
| --- | --- |
${files.map(([file, what]) => `| \`${file}\` | ${what} |\n`).join('')}| \`playground_env.py\` | the environment's rules; needs only the standard library, and gives the same words and random draws as the page |
| \`environment.json\` | this environment: its data and settings (rewards, penalties, failures, turns) |
| \`train.jsonl\`, \`val.jsonl\` | one task per line in verl's columns; \`extra_info.task\` is the task as data, and its \`seed\` gives the same task on the page |
| \`model/\` | the checkpoint with tokenizer and chat template: a Hugging Face folder, which the page can open again |

To change a reward or a penalty, edit \`settings\` in \`environment.json\`; they are nowhere else. To play an episode by hand, start Python in this folder:

\`\`\`python
from playground_env import Episode, load_rules
import json
row = json.loads(open("train.jsonl").readline())
episode = Episode(load_rules("environment.json"), row["extra_info"]["task"], row["extra_info"]["environment_seed"])
turn = episode.step("${example}")
print(row["prompt"][0]["content"], turn.observation, turn.parts, episode.over)
\`\`\`

## What became of each knob

Knobs that have no effect in this run are left out.

| knob | value | ${engine} |
| --- | --- | --- |
${mappedKnobs(config)
  .map(({ knob, value, [engine]: text }) => `| \`${knob}\` | ${value} | ${text.replaceAll('|', '\\|')} |\n`)
  .join('')}
## What does not carry over

- **The grammar mask.** ${config.grammar === 'on' ? 'On the page, a grammar allows only well-formed turns. ' : ''}Here, every word of the vocabulary can be drawn at every place. Expect malformed turns at first; each costs \`invalidPenalty\` (${config.invalidPenalty}).
- **The token that gets a reward.** On the page, a turn's reward is given at its last token. Here, a rollout has one score. This makes no difference for group estimators, but it does for \`gae\`.
- **The reward model, the mask settings, filters that keep a share, and bi-level GAE** exist only on the page. The table says what replaces them.
- **The optimizer's moments and the critic** are in \`model/training_state.safetensors\`, but the engines start without them.
${engine === 'trl' ? KL_IN_TRL : ''}- **Random draws.** Tasks are the same as on the page, in the same order. Sampled tokens are drawn anew, and so are the environment seeds of rollouts if \`randomness\` is \`own\`.
${rules.kind === 'documents' ? LICENCES.documents : ''}${rules.name === 'world-facts' ? LICENCES.facts : ''}`);
}

/** Requirements on the number of GPUs and the attention kernel, with this run's numbers. */
function verlSizes({ config: { prompts, groupSize, width, heads } }: HandoverFolder): string {
  const headDimension = width / heads;
  const kernelNote = headDimension % 8 === 0 ? '' : ` vLLM’s FlashAttention needs head dimensions that are multiples of 8, but this model has ${headDimension}. Set \`VLLM_ATTENTION_BACKEND\` to another backend.`; // prettier-ignore
  return `\nThe number of GPUs must divide the ${prompts * groupSize} rollouts of a step.${kernelNote}\n`;
}

const KL_IN_TRL = `- **TRL's own KL.** \`trl.json\` sets \`use_bias_correction_kl\` to false, so KL in the loss has the page's gradient, 1 − e^δ with δ = log π_ref − log π. TRL's default multiplies KL by the ratio, so its gradient is −δ when the ratio is 1.
- **Rollouts that \`--vllm\` drops.** TRL compares vLLM's log-probabilities with its own, and gives a rollout weight 0 if its ratio is above 3 (\`vllm_importance_sampling_correction\`). The page drops none.
`;

const LICENCES = {
  documents:
    '\n## Data\n\nPassages and questions are made from WordNet 3.1, © Princeton University, whose licence asks that this notice stays with them: https://wordnet.princeton.edu/license-and-commercial-use\n',
  facts:
    '\n## Data\n\nFacts are from world-countries 5.1.0 (Mohammed Le Doze and contributors), under ODbL 1.0: https://opendatacommons.org/licenses/odbl/1-0/\n',
};

const ENGINE_PARTS: Readonly<
  Record<Engine, { readonly run: string; readonly files: readonly (readonly [file: string, what: string])[] }>
> = {
  verl: {
    run: `\`\`\`sh
pip install "verl[vllm]==${VERL_VERSION}"   # on a machine with a GPU
bash run.sh                    # more GPUs: N_GPUS=8 bash run.sh; other settings: bash run.sh trainer.total_training_steps=10
\`\`\`

This needs a GPU, because verl's agent loop generates with vLLM or SGLang. Rollout Playground's tests check everything that works without a GPU,
with verl ${VERL_VERSION}: its dataset reads the rows, its registries load the tool and the agent loop, its reward manager calls \`compute_score\`, and its
configuration accepts every override in \`run.sh\`. Rollouts are written to \`rollouts/\`, one file per step; the page opens them under Rollouts. With
several nodes, put the folder at the same path on each, or let \`ray job submit --working-dir\` copy it.

The policy writes words, not JSON, so verl's tool parsers can't read its calls. \`playground_verl.py\` therefore has its own agent loop. If you use
another model, it must have this folder's tokenizer, in which every word is a token.`,
    files: [
      ['run.sh', 'starts verl, with one setting per line'],
      ['playground_verl.py', 'agent loop, tool and reward function'],
      ['tools.yaml, agent_loop.yaml', 'tell verl where the tool and the agent loop are'],
    ],
  },
  trl: {
    run: `\`\`\`sh
pip install "trl==${TRL_VERSION}" "transformers>=5.15" datasets
python train_trl.py                                # on a GPU; without one, on the CPU
python train_trl.py --set '{"max_steps": 4}'       # changes fields of GRPOConfig, here for a short try
python train_trl.py --vllm                         # generates with vLLM, which needs a GPU
\`\`\`

The trained model is written to \`trained/\`. Tasks are played with TRL's \`environment_factory\`, which is experimental. A word-level policy writes no
JSON, so a response template passes each turn of the agent, well formed or not, to \`Playground.turn\`. GRPO is the only estimator. A turn is cut at
its maximum length (\`generation_kwargs\`). When an episode is over, the environment returns a text that is too long for the completion; TRL drops it
and ends the rollout.`,
    files: [
      ['train_trl.py', 'environment, reward and GRPOTrainer in one file'],
      ['trl.json', 'fields of GRPOConfig'],
    ],
  },
};

/**
 * Writes a run as a folder that trains the same task with an engine. Throws ProblemError if its environment has no
 * rules in Python.
 */
export function handoverFiles(engine: Engine, source: HandoverSource): Files {
  const folder = handoverFolder(source);
  const engineFiles = engine === 'verl' ? verlFiles(folder) : trlFiles(folder);
  return new Map([['README.md', readmeFile(engine, folder)], ...engineFiles, ...sharedFiles(folder, source.run)]);
}

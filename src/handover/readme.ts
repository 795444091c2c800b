import type { Engine } from '../config/mappedKnob.ts';
import { LIMITS } from '../written/script/sandbox.ts';
import { WASMTIME_VERSION } from './machineFiles.ts';
import { mappedKnobs } from './mapping.ts';
import type { NamedExport } from './pythonNames.ts';
import type { RunFolder } from './taskRows.ts';
import { TRL_VERSION } from './trlFiles.ts';
import { VERIFIERS_VERSION } from './verifiersFiles.ts';
import { VERL_VERSION } from './verlFiles.ts';

const OPENENV_VERSION = '0.10.0';

/**
 * README.md of a run's folder: what to install and run, its files, the counterpart of every knob, and what does not
 * carry over.
 */
export function runReadme(engine: Engine, folder: RunFolder): string {
  const { rules, name, update, config, train, val, example } = folder;
  const { run, files } = ENGINE_PARTS[engine];
  return `# ${rules.name} with ${engine === 'verl' ? 'verl' : 'TRL'}

${rules.description} This folder trains the same task, with the same words and rewards, as the run ${JSON.stringify(name)} of Rollout Playground
after update ${update}. It has ${train.length} training tasks (${config.updates} updates of ${config.prompts} tasks, ${config.groupSize} rollouts each) and ${val.length} evaluation tasks.

${run}
${engine === 'verl' ? verlSizes(folder) : ''}
## Files

| file | what it is |
| --- | --- |
${files.map(([file, what]) => `| \`${file}\` | ${what} |\n`).join('')}| \`playground_env.py\`, \`playground_machine.py\` | play episodes in Python, with the page's own rules |
| \`machine/\` | the rules as JavaScript (\`environment.js\`), the virtual machine that runs them (QuickJS, in wasmtime), and this environment's knobs and settings (\`environment.json\`) |
| \`train.jsonl\`, \`val.jsonl\` | one task per line in verl's columns; \`extra_info.seed\` gives the same task as on the page |
| \`model/\` | the checkpoint with tokenizer and chat template: a Hugging Face folder, which the page can open again |

To change a reward or a penalty, edit \`settings\` in \`machine/environment.json\`; they are nowhere else. To play an episode by hand, start Python in this folder:

\`\`\`python
import json
from playground_env import Episode

row = json.loads(open("train.jsonl").readline())
episode = Episode("train", row["extra_info"]["seed"], row["extra_info"]["environment_seed"])
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
- **The reward model, the mask settings, filters that keep a share, GAE over turns, and a training row for each turn** exist only on the page. The table says what replaces them.
- **The optimizer's moments and the critic** are in \`model/training_state.safetensors\`, but the engines start without them.
${engine === 'trl' ? KL_IN_TRL : ''}- **Random draws.** Tasks are the same as on the page, in the same order. Sampled tokens are drawn anew, and so are the environment seeds of rollouts if \`randomness\` is \`own\`.
${rules.name === 'document-search' ? LICENCES.documents : ''}${rules.name === 'world-facts' ? LICENCES.facts : ''}`;
}

/** Requirements on the number of GPUs and the attention kernel, with this run's numbers. */
function verlSizes({ config: { prompts, groupSize, width, heads } }: RunFolder): string {
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
pip install "verl[vllm]==${VERL_VERSION}" wasmtime==${WASMTIME_VERSION}   # on a machine with a GPU
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
pip install "trl==${TRL_VERSION}" "transformers>=5.15" datasets wasmtime==${WASMTIME_VERSION}
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

/** README.md of a class's folder: how to install and start each framework, and how it differs from the page. */
export function classReadme({ declaration, names, settings, file }: NamedExport): string {
  const { className, changedNames } = names;
  const { tasks, maxTurns } = settings;
  const renamed = changedNames.map(([own, python]) => `\`${own}\` is \`${python}\``).join(', ');
  return `# ${className}

${oneLine(declaration.description)}

This folder has an environment (${oneLine(file.name)}) from Rollout Playground, ready for four frameworks. It has ${tasks.train} training tasks and ${tasks.test} test tasks, with at most ${maxTurns} turns each. \`environment.ts\` is the original file. All four frameworks run the same program without its types, \`machine/environment.js\`.

**It's a program. Read \`environment.ts\` before you train on it.** It runs in a virtual machine (QuickJS compiled to WebAssembly, in wasmtime) without files, network, clock or random numbers of its own. The page uses the same machine. So the same task and the same calls give the same episode and the same reward, bit for bit.

## Play an episode

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION}
\`\`\`

\`\`\`python
from playground_episode import Episode

episode = Episode("train", 3)
print(episode.prompt, episode.expert())
print(episode.call("TOOL", {"ARGUMENT": "VALUE"}), episode.reward())
\`\`\`

## TRL

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} trl==${TRL_VERSION} datasets
python trl_environment.py --model Qwen/Qwen3-0.6B
\`\`\`

\`GRPOTrainer(environment_factory=${className}, train_dataset=Dataset.from_list(rows("train")), …)\`. The chat template of the model must support tools.

- TRL doesn't end a rollout when the environment is done. A call after the end changes nothing and returns “The episode is over.”${declaration.hearsAnswer ? '\n- TRL doesn’t pass on a text that the agent writes without a call. So the class has one more tool, `answer`.' : ''}
- Python itself rejects a call with a missing or unknown argument. Such a call doesn’t count as a turn. Set \`max_tool_calling_iterations\` to ${maxTurns}, as \`trl_environment.py\` does.

## verifiers

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} verifiers==${VERIFIERS_VERSION}
\`\`\`

\`verifiers_environment.py\` has the taskset \`${className}Taskset\`, the toolset \`${className}Tools\`, and a reward for each part with its weight. The toolset runs in a process of its own. It records each call, and the rewards are computed by playing the calls again. The end of an episode doesn't end a rollout.

## OpenEnv

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} openenv==${OPENENV_VERSION}
python openenv_server.py --port 8000
\`\`\`

Each WebSocket at \`/ws\` is one episode, and up to 64 run at once. \`reset\` takes \`split\` and \`index\`; without an index, \`seed\` picks the task. Each step calls a tool. The tool \`answer\` takes the agent's final text and ends the episode. OpenEnv and verifiers need different versions of the package \`mcp\`, so install them in separate Python environments.

## verl

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} verl==${VERL_VERSION}
python verl_environment.py          # writes train.jsonl, val.jsonl and tools.yaml
PYTHONPATH=. python -m verl.trainer.main_ppo \\
  data.train_files=train.jsonl data.val_files=val.jsonl data.return_raw_chat=true \\
  actor_rollout_ref.rollout.multi_turn.enable=true \\
  actor_rollout_ref.rollout.multi_turn.max_assistant_turns=${maxTurns} \\
  actor_rollout_ref.rollout.multi_turn.max_parallel_calls=1 \\
  actor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml \\
  reward.custom_reward_function.path=verl_environment.py \\
  reward.custom_reward_function.name=compute_score …
\`\`\`

Training with verl needs a GPU and was not tried. In tests, verl's own classes loaded the tools and the rows, and gave the same rewards as the page. The end of an episode doesn't end a rollout. A call after the end changes nothing.

## Limits

- **Enforced, as on the page:** the work of one call (it's counted, so the limit is the same on every machine), ${LIMITS.memoryBytes / 1e6} MB of memory for all episodes of a process, the depth of nested calls, and the number of turns.
- **Not enforced:** a limit in seconds.
- **Rewards:** only \`getReward()\` counts. On the page a refused call also costs \`invalidPenalty\`; here it costs nothing. TRL and verifiers ignore \`turnReward()\`. OpenEnv reports it as \`turn_reward\`, and verl as the tool's reward.
- **A fault of the environment**, such as an exception in \`getReward()\`, raises \`EnvironmentFault\` with the line in \`environment.ts\`. TRL and verl treat an exception in a tool as the tool's answer, so the fault is raised again when they ask for the reward. If a single built-in function computes too long, the whole virtual machine ends. All open episodes of that process then fail with the same fault, and the next episode gets a new machine.
- Each process has one machine, which serves one call at a time.${renamed ? `\n- These names are already used in Python, so an underscore was added: ${renamed}.` : ''}

To change the environment, edit your file and export it again. Don't edit \`environment.ts\` in this folder: the machine runs \`machine/environment.js\`, the same program without its types.
`;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

import { LIMITS } from '../sandbox.ts';
import type { Exported } from './exportInput.ts';
import { TRL_VERSION } from './trlExport.ts';
import { VERIFIERS_VERSION } from './verifiersExport.ts';

const OPENENV_VERSION = '0.10.0';
const VERL_VERSION = '0.9.1';
const WASMTIME_VERSION = '50.0.1';

/** README.md: what each framework needs, how it is started, and what isn't the same there as on the page. */
export function exportReadme({ declaration, names, settings, file }: Exported): string {
  const { className, changed } = names;
  const { tasks, maxTurns } = settings;
  const renamed = changed.map(([own, python]) => `\`${own}\` is \`${python}\``).join(', ');
  return `# ${className}

${oneLine(declaration.description)}

${oneLine(file.name)}, written for Rollout Playground, for four frameworks: ${tasks.train} tasks to train on, ${tasks.test} to test, at most ${maxTurns} turns. \`environment.ts\` is the program as it was written; the frameworks run it.

**It's a program. Read \`environment.ts\` before you train on it.** It runs in a virtual machine (QuickJS compiled to WebAssembly, in wasmtime) without files, network, clock or random numbers of its own. The machine is the one that the page uses, so the same task and the same calls give the same episode and the same reward, bit for bit.

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

\`GRPOTrainer(environment_factory=${className}, train_dataset=Dataset.from_list(rows("train")), …)\`. The chat template of the model must have tools.

- TRL doesn't end a rollout when the environment is done. A call after the end changes nothing; its answer is “The episode is over.”${declaration.hearsAnswer ? '\n- TRL doesn’t show an environment what the agent says without a call. So the class has one more tool, `answer`.' : ''}
- A call with a missing or unknown argument is answered by Python, and is no turn of the episode. Set \`max_tool_calling_iterations\` to ${maxTurns}, as \`trl_environment.py\` does.

## verifiers

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} verifiers==${VERIFIERS_VERSION}
\`\`\`

\`verifiers_environment.py\` has the taskset \`${className}Taskset\`, the toolset \`${className}Tools\`, and a reward for each part with its weight. The toolset runs in a process of its own. It notes each call, and the rewards play the calls again. The end of an episode doesn't end a rollout.

## OpenEnv

\`\`\`sh
pip install wasmtime==${WASMTIME_VERSION} openenv==${OPENENV_VERSION}
python openenv_server.py --port 8000
\`\`\`

A WebSocket at \`/ws\` is an episode; up to 64 run at once. \`reset\` takes \`split\` and \`index\`; without an index, \`seed\` picks the task. A step calls a tool. The tool \`answer\` says something without a call, which ends the episode. OpenEnv and verifiers ask for different versions of the package \`mcp\`: install them apart.

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

Training with verl needs a GPU and was not tried. Its own classes load tools and rows, and pay what the page pays. The end of an episode doesn't end a rollout; a call after it changes nothing.

## Limits

- **Enforced, as on the page:** the work of one call (a count, so it's the same on every machine), ${LIMITS.memoryBytes / 1e6} MB of memory for all episodes of a process, the depth of calls, the number of turns.
- **Not enforced:** a limit in seconds. The format penalty: on the page a refused call costs \`invalidPenalty\`; here only \`getReward()\` counts. \`turnReward()\` is paid to nobody in TRL and verifiers; OpenEnv reports it as \`turn_reward\`, verl as the tool's reward.
- **A fault of the environment**, such as an exception in \`getReward()\`, raises \`EnvironmentFault\` with the line in \`environment.ts\`. TRL and verl take an exception in a tool for the tool's answer; it's raised again when the reward is asked for. A call that hangs inside the virtual machine itself ends it, and every other episode of that process has the same fault; the next episode gets a new machine.
- One process has one machine, which serves one call at a time.${renamed ? `\n- Names that Python can't have got an underscore: ${renamed}.` : ''}

To change the environment, change its file and export it again. \`machine/environment.js\` is the program without its types.
`;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

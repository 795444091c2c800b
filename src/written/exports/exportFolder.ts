import { toolSchema } from '../../text/toolSchema.ts';
import { meteredWasm } from '../meteredMachine.ts';
import { MAX_REWARD } from '../../domain/rewardLimit.ts';
import { LIMITS, machinePrograms } from '../sandbox.ts';
import episodeModule from './python/playground_episode.py?raw';
import openEnvServer from './python/openenv_server.py?raw';
import verlModule from './python/verl_environment.py?raw';
import machineModule from './python/playground_machine.py?raw';
import machineLicence from './python/machine_licence.txt?raw';
import type { EnvironmentToExport, NamedExport } from './exportInput.ts';
import { pythonNames } from './pythonNames.ts';
import { trlExport, TRL_VERSION } from './trlExport.ts';
import { verifiersExport, VERIFIERS_VERSION } from './verifiersExport.ts';
import type { CheckReport } from '../checker.ts';
import { type Declaration, EnvironmentFileError } from '../declaration.ts';
import { faultsOf } from '../../domain/checkFindings.ts';

const OPENENV_VERSION = '0.10.0';
const VERL_VERSION = '0.9.1';
const WASMTIME_VERSION = '50.0.1';

/** README.md of the exported folder: how to install and start each framework, and how it differs from the page. */
function exportReadme({ declaration, names, settings, file }: NamedExport): string {
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

/**
 * The files, by name, with which TRL, verifiers, OpenEnv and verl train on an environment. They run the environment's
 * own program in the same virtual machine as the page. Throws EnvironmentFileError if a name can't be written in
 * Python.
 */
export function exportFolder(environment: EnvironmentToExport): ReadonlyMap<string, Uint8Array> {
  const namedExport: NamedExport = { ...environment, names: pythonNames(environment.declaration) };
  const programs = machinePrograms(environment.declaration.code);
  const texts = {
    'README.md': exportReadme(namedExport),
    'environment.ts': environment.file.text,
    'playground_episode.py': episodeModule,
    'playground_machine.py': machineModule,
    'trl_environment.py': trlExport(namedExport),
    'verifiers_environment.py': verifiersExport(namedExport),
    'openenv_server.py': openEnvServer,
    'verl_environment.py': verlModule,
    'machine/environment.json': `${JSON.stringify(rulesForPython(namedExport), null, 2)}\n`,
    'machine/environment.js': programs.environment,
    'machine/playground.js': programs.playground,
    'machine/rng.js': programs.rng,
    'machine/LICENSE': machineLicence,
  };
  const encoder = new TextEncoder();
  const files = Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)] as const);
  return new Map([...files, ['machine/quickjs.wasm', meteredWasm(environment.quickjsWasm)]]);
}

/** The contents of environment.json, for the Python modules: everything about the environment except its program. */
function rulesForPython({ declaration, settings, file }: NamedExport) {
  const { name, description, tools, hearsAnswer } = declaration;
  return {
    ...{ name, file: file.name, system: description || name, hearsAnswer },
    tools: tools.map((tool) => ({
      name: tool.name,
      parameters: tool.parameters.map((parameter) =>
        typeof parameter === 'string' ? { name: parameter, type: 'string' } : parameter,
      ),
      schema: toolSchema(tool),
    })),
    ...settings,
    limits: LIMITS,
    maxReward: MAX_REWARD,
  };
}

/**
 * The files of an environment's export, by name, with the settings that its check found. Null if the check found a
 * fault. Throws EnvironmentFileError if the class is in Python, or a name can't be written in Python.
 */
export function checkedExport(
  { file, declaration }: Pick<EnvironmentToExport, 'file' | 'declaration'>,
  report: CheckReport,
  quickjsWasm: Uint8Array,
): ReadonlyMap<string, Uint8Array> | null {
  refusePython(declaration);
  if (faultsOf(report).length > 0) return null;
  return exportFolder({ file, declaration, settings: report.settings, quickjsWasm });
}

/**
 * Throws EnvironmentFileError if a class is in Python. Only TypeScript is exported, because TRL can train on a class in
 * Python directly.
 */
export function refusePython({ language, name }: Pick<Declaration, 'language' | 'name'>): void {
  if (language !== 'python') return;
  throw new EnvironmentFileError(
    `A class in Python isn’t exported. TRL trains on the file as it is: environment_factory=${name}.`,
    null,
  );
}

import { bytesOf } from '../checkpoints/checkpointFolder.ts';
import type { Folder } from './handoverFolder.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { mappedKnobs } from './mapping.ts';
import { TRL } from './trlFiles.ts';
import { VERL } from './verlFiles.ts';

/** The README of a folder: what to install and run, what each file is, what became of every knob, what does not carry over. */
export function readmeFile(engine: Engine, folder: Folder): Uint8Array {
  const { rules, name, update, config, train, val, example } = folder;
  const { run, files } = ENGINE[engine];
  return bytesOf(`# ${rules.name} with ${engine === 'verl' ? 'verl' : 'TRL'}

${rules.description} Handed over from the run ${JSON.stringify(name)} of Rollout Playground after update ${update}: the same task, the same words, the
same rewards. ${train.length} tasks to train on (${config.updates} updates of ${config.prompts} tasks, ${config.groupSize} rollouts each), ${val.length} that ${
    val.length > 0 ? 'are evaluated' : 'would be evaluated'
  }.

${run}
${engine === 'verl' ? verlSizes(folder) : ''}
## Files

| file | what it is |
| --- | --- |
${files.map(([file, what]) => `| \`${file}\` | ${what} |\n`).join('')}| \`playground_env.py\` | the environment's rules, by the standard library alone; equal to the page's, word for word and draw for draw |
| \`environment.json\` | this environment: its data, its settings (rewards, penalties, failures, turns) |
| \`train.jsonl\`, \`val.jsonl\` | a task a line in verl's columns; \`extra_info.task\` is the task as data, \`seed\` draws it on the page |
| \`model/\` | the checkpoint with tokenizer and chat template: a Hugging Face folder, which the page opens again too |

To change a reward or a penalty, change \`settings\` in \`environment.json\`: nothing else holds it. To play an episode by hand, here:

\`\`\`python
from playground_env import Episode, load_rules
import json
row = json.loads(open("train.jsonl").readline())
episode = Episode(load_rules("environment.json"), row["extra_info"]["task"], row["extra_info"]["environment_seed"])
turn = episode.step("${example}")
print(row["prompt"][0]["content"], turn.observation, turn.parts, episode.over)
\`\`\`

## What became of each knob

Knobs that do nothing in this run are left out.

| knob | value | ${engine} |
| --- | --- | --- |
${mappedKnobs(config)
  .map(({ knob, value, [engine]: text }) => `| \`${knob}\` | ${value} | ${text.replaceAll('|', '\\|')} |\n`)
  .join('')}
## What does not carry over

- **The grammar mask.** ${config.grammar === 'on' ? 'The run draws under it: only well-formed turns. ' : ''}Here every word of the vocabulary can be drawn at every place. Expect malformed turns at first; each costs \`invalidPenalty\` (${config.invalidPenalty}).
- **Where a reward is paid.** The page pays a turn on its last token; here a rollout has one score. Group estimators see no difference, \`gae\` does.
- **The reward model, the masks' switches, the filters by a share and bi-level GAE** are the page's alone; the table says what takes their place.
- **The optimizer's moments and the critic** are in \`model/training_state.safetensors\`; engines begin with none.
- **Draws.** Tasks are the page's, in its order. What is sampled, and each rollout’s environment seed where \`randomness\` is \`own\`, are drawn anew.
${rules.kind === 'documents' ? LICENCES.documents : ''}${rules.name === 'world-facts' ? LICENCES.facts : ''}`);
}

/** What a machine's sizes must fit, in this run's numbers. */
function verlSizes({ config: { prompts, groupSize, width, heads } }: Folder): string {
  const head = width / heads;
  const kernel = head % 8 === 0 ? '' : ` vLLM’s FlashAttention takes heads of a multiple of 8; these have ${head}: set \`VLLM_ATTENTION_BACKEND\` to another.`; // prettier-ignore
  return `\nThe number of GPUs must divide the ${prompts * groupSize} rollouts of a step.${kernel}\n`;
}

const LICENCES = {
  documents:
    '\n## Data\n\nPassages and questions are made from WordNet 3.1, © Princeton University, whose licence asks that this notice stays with them: https://wordnet.princeton.edu/license-and-commercial-use\n',
  facts:
    '\n## Data\n\nFacts are from world-countries 5.1.0 (Mohammed Le Doze and contributors), under ODbL 1.0: https://opendatacommons.org/licenses/odbl/1-0/\n',
};

const ENGINE: Readonly<
  Record<Engine, { readonly run: string; readonly files: readonly (readonly [file: string, what: string])[] }>
> = {
  verl: {
    run: `\`\`\`sh
pip install "verl[vllm]==${VERL}"   # on a machine with a GPU
bash run.sh                    # N_GPUS=8 bash run.sh; other settings go behind: bash run.sh trainer.total_training_steps=10
\`\`\`

Needs a GPU: verl's agent loop generates with vLLM or SGLang. What can be checked without one is checked by the page's tests with verl
${VERL}: its dataset reads the rows, its registries load tool and agent loop, its reward manager pays with \`compute_score\`, its configuration
knows every override of \`run.sh\`. Rollouts are written to \`rollouts/\`, a file a step; the page opens them under Rollouts. On several nodes the folder
must lie at the same path on each, or \`ray job submit --working-dir\` must carry it.

The policy speaks words, not JSON, so the stock tool parsers do not read it and \`playground_verl.py\` brings an agent loop of its own. Another model
must have this folder's tokenizer: words are tokens.`,
    files: [
      ['run.sh', 'verl with every setting, a line each'],
      ['playground_verl.py', 'agent loop, tool and reward function'],
      ['tools.yaml, agent_loop.yaml', 'how verl finds them'],
    ],
  },
  trl: {
    run: `\`\`\`sh
pip install "trl==${TRL}" "transformers>=5.15" datasets
python train_trl.py                                # on a GPU, or one CPU where there is none
python train_trl.py --set '{"max_steps": 4}'       # a first look: other fields of GRPOConfig
python train_trl.py --vllm                         # generates with vLLM, on a GPU
\`\`\`

The trained model is written to \`trained/\`. Tasks are played by TRL's \`environment_factory\`, which is experimental in TRL: each turn of the
agent, well formed or not, is handed to \`Playground.turn\` by a response template, for a word-level policy writes no JSON. GRPO is the one estimator. A
turn is cut after its longest length (\`generation_kwargs\`); an episode that is over ends its rollout by an answer that does not fit, which TRL drops.`,
    files: [
      ['train_trl.py', 'environment, reward and GRPOTrainer in one file'],
      ['trl.json', 'fields of GRPOConfig'],
    ],
  },
};

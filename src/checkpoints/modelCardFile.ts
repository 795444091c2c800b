import { shareInterval } from '../base/inference.ts';
import { intervalText } from '../base/inferenceWords.ts';
import { visible } from '../base/visible.ts';
import { type EnvName, ENVIRONMENTS } from '../config/environments.ts';
import { DEFAULTS, FIELDS, isFieldName, type Field, type RunConfig } from '../config/fields.ts';
import { EVALUATION_WORDS, evaluationSetOf, isWholeSet } from '../domain/evaluationSet.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { MetricName } from '../domain/metrics.ts';
import { parameterCount } from '../model/architecture.ts';
import type { PackedRun } from '../runs/packed.ts';
import { backendText } from '../runs/run.ts';
import { type Form, modelOf } from './modelConfigFile.ts';
import { FILE_NAMES } from './checkpointFolder.ts';

/** README.md: how the model was trained, what was measured with which seed, how to load it and how to continue training. */
export function cardFile(run: PackedRun, form: Form): string {
  const { checkpoint } = run;
  const model = modelOf(checkpoint);
  const { config } = checkpoint;
  const className = form === 'qwen2' ? 'Qwen2' : 'Llama';
  return `${[
    FRONT_MATTER,
    `# ${escapedMarkdown(run.name)}`,
    `A ${checkpoint.chatTokenizer ? 'text' : 'word-level'} agent of ${parameterCount({ ...model, value_head: false }).toLocaleString('en')} parameters (${className}, ${model.num_hidden_layers} layers, width ${model.hidden_size}), trained by reinforcement learning in Rollout Playground: environment \`${config.env}\`, algorithm \`${config.estimator}\`, ${checkpoint.progress.update} updates, seed ${config.seed}, on ${escapedMarkdown(backendText(run.backend))}.`,
    `![Share of tasks solved, update by update](${FILE_NAMES.curves})`,
    '## Measured',
    evaluationTable(run),
    '## Load it',
    checkpoint.chatTokenizer
      ? LOAD_TEXT_MODEL
      : loadWordModel(config.env, form === 'qwen2' ? 'PreTrainedTokenizerFast' : 'AutoTokenizer'),
    ...(form === 'qwen2' ? [QWEN_NOTE] : []),
    ...(checkpoint.chatTokenizer
      ? [textTurns(checkpoint.vocabulary.length)]
      : wordTurns(config, checkpoint.vocabulary.length)),
    ...(model.head_dim === 64 || model.head_dim === 128 ? [] : [headDimension(model.head_dim)]),
    '## Continue training',
    CONTINUE_TEXT,
    '## Settings',
    'Knobs that are not at their defaults:',
    settings(run),
    '## Files',
    '`config.json`, `generation_config.json`, `model.safetensors`, `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja` are the model. `value_head.safetensors` is the critic’s head, if the critic shares the trunk. `training_state.safetensors` has AdamW’s moments, and a separate critic and a reward model if the run has them. `playground.json` has the knobs and how far training has come; `metrics.jsonl` has every curve.',
  ].join('\n\n')}\n`;
}

/** README.md of adapters: for which checkpoint, what was measured, how to continue training. */
export function adapterCard(run: PackedRun, base: BaseMark): string {
  const { checkpoint } = run;
  const { config, begun, networks } = checkpoint;
  const adapterSize = Array.from(networks.policy.weights.values()).reduce((sum, { length }) => sum + length, 0);
  return `${[
    FRONT_MATTER,
    `# ${escapedMarkdown(run.name)}`,
    `Adapters (LoRA, rank ${begun.adapterRank}, alpha ${begun.adapterAlpha}) of ${adapterSize.toLocaleString('en')} parameters beside ${escapedMarkdown(base.name)} (${base.bytes.toLocaleString('en')} bytes, fingerprint \`${base.whole ?? base.sha256}\` of ${base.whole === undefined ? 'headers and samples' : 'every byte'}), trained by reinforcement learning in Rollout Playground: environment \`${config.env}\`, algorithm \`${config.estimator}\`, ${checkpoint.progress.update} updates, seed ${config.seed}, on ${escapedMarkdown(backendText(run.backend))}.`,
    `![Share of tasks solved, update by update](${FILE_NAMES.curves})`,
    '## Measured',
    evaluationTable(run),
    '## Continue training',
    '```sh\nnpm run train -- --resume FOLDER --model FILE\n```\n\n`FILE` must be the checkpoint that the run began with. Training continues with the next update. On the same backend it gives exactly the same numbers as a run without a break.',
    '## Settings',
    'Knobs that are not at their defaults:',
    settings(run),
    '## Files',
    '`adapter_config.json` and `adapter_model.safetensors` are the adapter as PEFT has them (`PeftModel.from_pretrained(model, FOLDER)`); `npm run adapter -- merge --base FILE --adapter FOLDER --to merged.gguf` merges it. `training_state.safetensors` has the adapter too, with the adapters that the run began with and AdamW’s moments. `playground.json` has the knobs and how far training has come. No file has the checkpoint’s own weights. `metrics.jsonl` has every curve.',
  ].join('\n\n')}\n`;
}

const FRONT_MATTER = `---
library_name: transformers
pipeline_tag: text-generation
tags: [rollout-playground, reinforcement-learning, agent]
---`;

const loadWordModel = (env: EnvName, tokenizer: string) => `\`\`\`python
from transformers import AutoModelForCausalLM, ${tokenizer}
model, tokenizer = AutoModelForCausalLM.from_pretrained("."), ${tokenizer}.from_pretrained(".")
print(tokenizer.decode(model.generate(**tokenizer("<bos> ${ENVIRONMENTS[env].examplePrompt}", return_tensors="pt"))[0]))
\`\`\`

\`.\` is this folder. You can write any task in the agent’s words. A rollout on the page shows examples.`;

/** Python that gives `generate` a conversation. The text after it says to add the system prompt and the tool. */
const LOAD_TEXT_MODEL = `\`\`\`python
from transformers import AutoModelForCausalLM, AutoTokenizer
model, tokenizer = AutoModelForCausalLM.from_pretrained("."), AutoTokenizer.from_pretrained(".")
messages = [{"role": "user", "content": "Find the number from 0 to 15."}]
inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
print(tokenizer.decode(model.generate(**inputs)[0]))
\`\`\`

\`.\` is this folder. It was trained on conversations with a system prompt and a tool. Give it those too; a rollout on the page shows them.`;

const textTurns = (tokens: number) =>
  `\`generation_config.json\` lists the ids that end a turn. Calls are JSON within \`<tool_call>\`; the tool’s answer follows as a message of the chat template. The tokenizer knows ${tokens.toLocaleString('en')} tokens of bytes, so it takes any text. In training no grammar kept turns well formed, so \`generate\` draws tokens the way training did.`;

const wordTurns = ({ grammar }: Pick<RunConfig, 'grammar'>, words: number): readonly string[] => [
  `A turn ends at \`</call>\` or \`</answer>\`; \`generation_config.json\` says so. The environment then writes \`<obs> … </obs>\` and the agent goes on. The tokenizer knows ${words} words and splits at blanks; any other word becomes \`<pad>\`.`,
  grammar === 'on'
    ? GRAMMAR_NOTE
    : 'In training no grammar kept turns well formed, so `generate` draws tokens the way training did.',
];

const GRAMMAR_NOTE =
  'It was trained under a grammar that allows only well-formed turns (knob `grammar`), so it never learned to avoid other turns. Without the grammar, `generate` may write turns that no environment accepts. Give `generate` the legal words with `prefix_allowed_tokens_fn`, or train with the knob off.';

const QWEN_NOTE =
  'For a Qwen2, `AutoTokenizer` of Transformers 5 loads Qwen2’s byte-pair tokenizer and ignores `tokenizer.json`. That is why the code above names the class.';

const CONTINUE_TEXT = `Drop this folder’s zip on the page, or:

\`\`\`sh
npm run train -- --from FOLDER
\`\`\`

Training continues with the next update. On the same backend it gives exactly the same numbers as a run without a break.`;

const headDimension = (size: number) =>
  `Heads have ${size} dimensions. Transformers can load them. Servers with fixed attention kernels may need 64 or 128.`;

/** A table of the last evaluation’s success. If it did not play all tasks of the set, a 95 % interval is added. */
function evaluationTable({ points, checkpoint }: PackedRun): string {
  const { config } = checkpoint;
  const lastPoint = (name: MetricName) => {
    const curve = points.get(name);
    const i = (curve?.x.length ?? 0) - 1;
    return curve && i >= 0 ? { update: curve.x[i] ?? 0, value: curve.y[i] ?? 0 } : null;
  };
  const [success, tasks] = [lastPoint('eval/success'), lastPoint('eval/tasks')];
  if (!success || !tasks) return 'The run has no evaluation.';
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const isWhole = isWholeSet(tasks.value, config, lastPoint('eval/all_tasks')?.value);
  const interval = shareInterval(Math.round(success.value * tasks.value), tasks.value);
  const intervalWords = isWhole ? '' : ` (${intervalText(interval, (share) => (100 * share).toFixed(1), ' %')})`;
  const tasksText = `${isWhole ? 'all ' : ''}${tasks.value} tasks, seed ${config.seed}`;
  const sampled = lastPoint('eval/success_sampled');
  const words = EVALUATION_WORDS[evaluationSetOf(config)];
  return [
    `| ${words.success} | | of | at update |`,
    '| --- | --- | --- | --- |',
    `| greedy | ${percent(success.value)}${intervalWords} | ${tasksText} | ${success.update} |`,
    ...(sampled ? [`| sampled, temperature ${config.temperature} | ${percent(sampled.value)} | ${tasksText} | ${sampled.update} |`] : []), // prettier-ignore
  ].join('\n');
}

function settings({ checkpoint: { config, begun } }: PackedRun): string {
  const rows = Object.keys(FIELDS)
    .filter(isFieldName)
    .filter((name) => config[name] !== DEFAULTS[name] || begun[name] !== DEFAULTS[name])
    .map((name) => {
      const { label }: Field = FIELDS[name];
      const startNote = begun[name] === config[name] ? '' : ` (began with ${begun[name]})`;
      return `| \`${name}\` | ${label} | ${config[name]}${startNote} | ${DEFAULTS[name]} |`;
    });
  return ['| knob | | value | default |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** Escapes a text from outside, so that Markdown shows it as plain text. */
function escapedMarkdown(text: string): string {
  return visible(text).replaceAll(/[\\`*_{}[\]<>#|!&]/g, (letter) => `\\${letter}`);
}

import { versionRecord, scalarRecord } from '../../src/formats/tfevents.ts';
import type { Run } from '../../src/runs/run.ts';
import { byUpdate } from '../../src/runs/byUpdate.ts';

/** Names of TRL for the page's metrics that it has. */
const TRL = {
  'critic/score/mean': 'reward',
  'rollout/in_group_reward_std': 'reward_std',
  'rollout/zero_std_groups': 'frac_reward_zero_std',
  'actor/entropy': 'entropy',
  'actor/grad_norm': 'grad_norm',
  'response_length/mean': 'completions/mean_length',
  'tool_call_counts/mean': 'tools/call_frequency',
} as const;
const VERL = [
  ...['critic/score/mean', 'critic/score/min', 'critic/score/max', 'actor/entropy', 'actor/grad_norm'],
  ...['response_length/mean', 'tool_call_counts/mean', 'rollout_corr/kl'],
] as const;

interface Entry {
  readonly step: number;
  readonly values: Readonly<Record<string, number>>;
}

function entriesOf(run: Run, nameOf: (metric: string) => string | undefined): readonly Entry[] {
  const curves = Array.from(run.series, ([name, { points }]) => [name, points] as const);
  return byUpdate(curves).flatMap(([step, pairs]) => {
    const named = pairs.flatMap(([metric, value]) => {
      const name = nameOf(metric);
      return name === undefined ? [] : [[name, value] as const];
    });
    return step > 0 && named.length > 0 ? [{ step, values: Object.fromEntries(named) }] : [];
  });
}

const trlName = (metric: string) => (TRL as Readonly<Record<string, string>>)[metric];
const trlEntries = (run: Run) => entriesOf(run, trlName);
const verlEntries = (run: Run) => entriesOf(run, (metric) => VERL.find((name) => name === metric));
const lines = (list: readonly string[]) => `${list.join('\n')}\n`;

/** As trainer_state.json of Transformers 5.24: indented, keys in order, with an evaluation and the last summary. */
export function trainerState(run: Run): string {
  const history = trlEntries(run).map(({ step, values }) => ({ ...values, epoch: step / 100, step }));
  const last = history.at(-1)?.step ?? 0;
  const summary = { epoch: 1, step: last, total_flos: 0, train_loss: 0.1, train_runtime: 9 };
  const state = { best_global_step: null, epoch: 1, global_step: last, log_history: [...history, summary] };
  return JSON.stringify(state, null, 2);
}

/** As Transformers 5.24 prints dicts: numbers as texts of four digits, beside a bar. */
export function trlConsole(run: Run): string {
  return lines(
    trlEntries(run).map(({ step, values }) => {
      const pairs = Object.entries(values).map(([name, value]) => `'${name}': '${value.toPrecision(4)}'`);
      return ` 10%|█   | ${step}/100 [00:01<00:09]{${pairs.join(', ')}, 'epoch': '0.5'}`;
    }),
  );
}

/** As verl 0.9.1 prints in a Ray worker with NumPy 2. */
export function verlConsole(run: Run): string {
  return lines([
    '(TaskRunner pid=77) Creating actor',
    ...verlEntries(run).map(({ step, values }) => {
      const pairs = Object.entries(values).map(
        ([name, value], i) => `${name}:${i % 2 ? `np.float64(${value})` : value}`,
      );
      return `\u001b[36m(TaskRunner pid=77)\u001b[0m step:${step} - ${pairs.join(' - ')} - training/global_step:${step}`;
    }),
  ]);
}

/** verl's logger `file`. */
export function verlFile(run: Run): string {
  return lines(verlEntries(run).map(({ step, values }) => JSON.stringify({ step, data: values })));
}

/** As wandb or trackio log what Trainer gives them, as a table. */
export function trlTable(run: Run): string {
  const entries = trlEntries(run);
  const names = [...new Set(entries.flatMap(({ values }) => Object.keys(values)))];
  const rows = entries.map(({ step, values }, i) => [i, step, ...names.map((name) => values[name] ?? '')].join(','));
  return lines([['_step', 'train/global_step', ...names.map((name) => `train/${name}`)].join(','), ...rows]);
}

/** As TensorBoard's writer: one event for each scalar. */
export function trlEvents(run: Run): Uint8Array<ArrayBuffer> {
  const records = trlEntries(run).flatMap(({ step, values }) =>
    Object.entries(values).map(([name, value]) => scalarRecord(9, step, [[`train/${name}`, value]])),
  );
  return new Uint8Array(Buffer.concat([versionRecord(9), ...records]));
}

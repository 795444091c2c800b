import { FIELDS, type Field, type FieldName, type RunConfig, knobLabel, knobText } from '../../config/fields.ts';
import { OBSERVATION_STATES } from '../../config/masks.ts';
import { presetConfig, useConfig } from '../knobs/configStore.ts';
import type { Arm } from '../training/armWorker.ts';
import { useLive } from '../view/liveStore.ts';
import { pausedRun } from '../training/pausedRun.ts';
import { listRun } from '../runs/liveRun.ts';
import { runComparison, useComparison, withSeed } from './comparisonStore.ts';

const READY_UPDATES = 40; // of the ready-made comparisons
const FOCUS_MS = 3000; // how long to wait for the form to focus, because the screen may have to be loaded first

/**
 * Copies the current state of the lab's run, with weights, optimizer and randomness, and continues the training twice:
 * without a change, and with one knob changed. The run itself is paused and kept.
 */
export async function forkRun(name: FieldName, value: string | number, updates: number): Promise<void> {
  const run = await pausedRun();
  if (!run?.checkpoint) {
    useComparison.setState({ state: 'failed', problem: missingRunProblem() });
    return;
  }
  listRun();
  const { checkpoint, facts, environment, update } = run;
  const backend: RunConfig['backend'] = useLive.getState().backend?.kind ?? 'auto';
  const config = { ...checkpoint.config, updates: update + updates };
  const from = { ...checkpoint, begun: { ...checkpoint.begun, backend } };
  const firstValues = new Map(
    [...run.series].flatMap(([metric, { lastSmoothed }]) =>
      lastSmoothed === undefined ? [] : [[metric, lastSmoothed] as const],
    ),
  );
  const arm = (letter: string, changed: RunConfig): Arm => ({
    ...{ from, firstValues, facts, environment, config: changed },
    label: `${letter} (${knobLabel(name)} ${knobText(changed[name])})`,
  });
  await runComparison({
    title: `Fork of #${run.id} at update ${update}`,
    arms: [arm('A', config), arm('B', { ...config, [name]: value })],
    fork: { run: run.id, update },
  });
}

/** The next choice, or twice the number (if that is 0 or above the maximum, the number half way to the minimum). */
export function suggestedValue(name: FieldName, config: RunConfig): string | number {
  const field: Field = FIELDS[name];
  const value = config[name];
  if ('choices' in field) {
    return field.choices[(field.choices.indexOf(String(value)) + 1) % field.choices.length] ?? String(value);
  }
  const doubled = Number(value) * 2;
  return doubled > 0 && doubled <= field.max ? doubled : (field.min + Number(value)) / 2;
}

/** The smallest number with which the sign test can get below .05 (if all pairs agree). */
const COMPARISON_SEEDS = 6;

/** The ready-made comparisons. Each ends with a verdict and can be undone. */
export const READY_COMPARISONS = [
  {
    id: 'mask',
    label: 'Both masks on against both off',
    note: `Number hunt in which the tool adds meaningless words to its answers: both masks on against both off, ${COMPARISON_SEEDS} seeds each. On this task, masks make a measurable difference. Both are turned off because the advantage mask alone already gives the tool’s tokens advantage 0, so they would teach nothing.`,
    start: () => void runComparison({ title: 'Noisy hunt', arms: maskArms(), fork: undefined }),
  },
  {
    id: 'break',
    label: 'Make training collapse (the Echo Trap)',
    note: `FrozenLake with few prompts, many epochs on each batch and no entropy bonus: all rollouts end up on one path, whatever the map says (the Echo Trap). The lab watches for this; when it happens, the run stops and is marked TRAP. It is compared with the same task at one epoch, a lower learning rate and with an entropy bonus. It runs as many seeds as fit into about a minute, at most ${COMPARISON_SEEDS}.`,
    start: () => void runComparison({ title: 'Break it', arms: collapseArms(), fork: undefined, metric: 'rollout/in_group_reward_std', maxSeeds: COMPARISON_SEEDS }), // prettier-ignore
  },
  {
    id: 'algorithms',
    label: 'PPO against GRPO',
    note: `PPO with a critic against GRPO with groups, on number hunt. Both start from the same weights, which imitate a player. It runs as many seeds as fit into about a minute, at most ${COMPARISON_SEEDS}.`,
    start: () =>
      void runComparison({
        title: 'Number hunt',
        arms: [
          armFromStart('GRPO', { ...presetConfig('number-hunt'), updates: READY_UPDATES }),
          armFromStart('PPO', { ...presetConfig('number-hunt-ppo'), updates: READY_UPDATES }),
        ],
        fork: undefined,
        maxSeeds: COMPARISON_SEEDS,
      }),
  },
] as const;

/** They make a healthy run on the task of `break-it`: one step on each batch, a third of the learning rate, an entropy bonus. */
const CONTROL_SETTINGS = {
  epochs: 1,
  minibatches: 1,
  learningRate: 1e-3,
  entropyCoef: 0.02,
} as const satisfies Partial<RunConfig>;

/** The run that is meant to collapse, and its control: the same task from the same weights, with `CONTROL_SETTINGS`. */
export function collapseArms(): Arm[] {
  const config = presetConfig('break-it');
  return [
    { ...armFromStart('break it', config), stopAtTrap: true },
    armFromStart('control', { ...config, ...CONTROL_SETTINGS }),
  ];
}

/** The arms of the comparison of masks: a pair of runs for each seed. */
export function maskArms(): Arm[] {
  const config = { ...presetConfig('noisy-hunt'), updates: READY_UPDATES };
  const pair = [
    armFromStart('both masks on', config),
    armFromStart('both masks off', { ...config, ...OBSERVATION_STATES.graded }),
  ];
  return Array.from({ length: COMPARISON_SEEDS }, (_, k) =>
    pair.map((arm) => withSeed(arm, arm.config.seed + k)),
  ).flat();
}

/** An arm that trains from update 0, with the seed and the backend that are set on the page. */
function armFromStart(label: string, config: RunConfig): Arm {
  const { seed, backend } = useConfig.getState().wanted;
  return { label, config: { ...config, seed, backend } };
}

export function openFork(): void {
  location.assign('#/forks');
  const began = performance.now();
  const focus = () => {
    const knob = document.getElementById('fork-knob');
    if (knob) knob.focus();
    else if (performance.now() - began < FOCUS_MS) requestAnimationFrame(focus);
  };
  focus();
}

/** The configuration of the run that would be forked; without a run, the one that is set on the page. */
export function configToFork(): RunConfig {
  const { applied, wanted } = useConfig.getState();
  return applied ?? wanted;
}

function missingRunProblem(): string {
  const { session, update } = useLive.getState();
  return session !== 'ready' || update === 0
    ? 'There is no run to fork. Run training for a few updates first.'
    : 'The run didn’t send its state in time. Try again.';
}

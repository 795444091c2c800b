import { FIELDS, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import { presetConfig, useConfig } from '../knobs/configStore.ts';
import { knobText } from '../../config/knobText.ts';
import type { Arm } from '../run/armWorker.ts';
import { useLive } from '../run/liveStore.ts';
import { pausedRun } from '../runs/pausedRun.ts';
import { listRun } from '../run/liveRun.ts';
import { runComparison, useComparison, withSeed } from './comparisonStore.ts';

/** Updates that the arms of a comparison take unless told otherwise. */
export const UPDATES = 40;
const FOCUS_MS = 3000; // the screen may have to be loaded first

/**
 * Clones the run of the lab where it stands, weights, optimizer and randomness, and trains it on twice: as it is, and with one
 * knob changed. The run itself is paused, and stays.
 */
export async function forkRun(name: FieldName, value: string | number, updates = UPDATES): Promise<void> {
  const run = await pausedRun();
  if (!run?.checkpoint) {
    useComparison.setState({ state: 'failed', problem: forkProblem() });
    return;
  }
  listRun();
  const { checkpoint, facts, environment, update } = run;
  const backend: RunConfig['backend'] = useLive.getState().backend?.kind ?? 'auto';
  const config = { ...checkpoint.config, updates: update + updates };
  const from = { ...checkpoint, begun: { ...checkpoint.begun, backend } };
  const opening = new Map(
    [...run.series].flatMap(([metric, { smooth }]) => (smooth === undefined ? [] : [[metric, smooth] as const])),
  );
  const arm = (letter: string, changed: RunConfig): Arm => ({
    ...{ from, opening, facts, environment, config: changed },
    label: `${letter} (${labelOf(name)} ${knobText(changed[name])})`,
  });
  await runComparison({
    title: `Fork of #${run.id} at update ${update}`,
    arms: [arm('A', config), arm('B', { ...config, [name]: value })],
    fork: { run: run.id, update },
  });
}

/** The value that a fork gives a knob if the person chose none: the next choice, or twice the number (if that is 0 or above the maximum, the number half way to the minimum). */
export function flipped(name: FieldName, config: RunConfig): string | number {
  const field: Field = FIELDS[name];
  const value = config[name];
  if ('choices' in field) {
    return field.choices[(field.choices.indexOf(String(value)) + 1) % field.choices.length] ?? String(value);
  }
  const doubled = Number(value) * 2;
  return doubled > 0 && doubled <= field.max ? doubled : (field.min + Number(value)) / 2;
}

/** Seeds of a comparison that one press starts. With six pairs that all go the same way, the sign test is below .05; with fewer it cannot be. */
const SEEDS = 6;

/** Experiments at one press: each ends with a verdict and can be undone. */
export const RECIPES = [
  {
    id: 'mask',
    label: 'Both masks on against both off',
    note: `Number hunt in which the tool adds meaningless words to its answers: both masks on against both off, ${SEEDS} seeds each. On this task, masks make a measurable difference. Both are turned off because the advantage mask alone already gives the tool’s tokens advantage 0, so they would teach nothing.`,
    start: () => void runComparison({ title: 'Noisy hunt', arms: masked(), fork: undefined }),
  },
  {
    id: 'break',
    label: 'Make training collapse (the Echo Trap)',
    note: `FrozenLake with few prompts, many epochs on each batch and no entropy bonus: all rollouts end up on one path, whatever the map says (the Echo Trap). The lab watches for this; when it happens, the run stops and is marked TRAP. It is compared with the same task at one epoch, a lower learning rate and with an entropy bonus. It runs as many seeds as fit into about a minute, at most ${SEEDS}.`,
    start: () => void runComparison({ title: 'Break it', arms: breaking(), fork: undefined, metric: 'rollout/in_group_reward_std', seeds: SEEDS }), // prettier-ignore
  },
  {
    id: 'algorithms',
    label: 'PPO against GRPO',
    note: `PPO with a critic against GRPO with groups, on number hunt. Both start from the same weights, which imitate a player. It runs as many seeds as fit into about a minute, at most ${SEEDS}.`,
    start: () =>
      void runComparison({
        title: 'Number hunt',
        arms: [
          fresh('GRPO', { ...presetConfig('number-hunt'), updates: UPDATES }),
          fresh('PPO', { ...presetConfig('number-hunt-ppo'), updates: UPDATES }),
        ],
        fork: undefined,
        seeds: SEEDS,
      }),
  },
] as const;

/** What is compared where the masks are turned off: both, for only together they push at the tool's words. */
export const UNMASKED = { lossMask: 'off', advantageMask: 'off' } as const satisfies Partial<RunConfig>;

/** What the same task is learned with where nothing is to break: each batch once, in one step, at a third of the rate, with an entropy bonus. */
const GENTLE = {
  epochs: 1,
  minibatches: 1,
  learningRate: 1e-3,
  entropyCoef: 0.02,
} as const satisfies Partial<RunConfig>;

/** The run that is to break, and its control: the same task from the same weights, with gentle updates. */
export function breaking(): Arm[] {
  const config = presetConfig('break-it');
  return [{ ...fresh('break it', config), stopAtTrap: true }, fresh('control', { ...config, ...GENTLE })];
}

/** The arms of the lesson on masks: pairs, seed by seed. */
export function masked(): Arm[] {
  const config = { ...presetConfig('noisy-hunt'), updates: UPDATES };
  const pair = [fresh('both masks on', config), fresh('both masks off', { ...config, ...UNMASKED })];
  return Array.from({ length: SEEDS }, (_, k) => pair.map((arm) => withSeed(arm, arm.config.seed + k))).flat();
}

/** An arm from the beginning, on the seed and the backend of the page. */
function fresh(label: string, config: RunConfig): Arm {
  const { seed, backend } = useConfig.getState().wanted;
  return { label, config: { ...config, seed, backend } };
}

/** Shows where a fork is made, with the keyboard in it. */
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

/** The knobs of the run that would be forked, or those of the page. */
export function forkable(): RunConfig {
  const { applied, wanted } = useConfig.getState();
  return applied ?? wanted;
}

function forkProblem(): string {
  const { session, update } = useLive.getState();
  return session !== 'ready' || update === 0
    ? 'There is no run to fork. Run training for a few updates first.'
    : 'The run didn’t send its state in time. Try again.';
}

function labelOf(name: FieldName): string {
  const field: Field = FIELDS[name];
  return field.label;
}

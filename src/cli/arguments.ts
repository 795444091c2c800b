import { resembles } from '../base/resembles.ts';
import { readFlags } from '../../tools/flags.mjs';
import { parseDecimal } from '../base/decimal.ts';
import type { Problem } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { type FieldName, FIELDS, isFieldName, parseConfig, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { currentName } from '../config/fields.ts';
import { serverKnobs, type PresetName, PRESETS, SERVER_PRESET, YOUR_ENVIRONMENT_PRESET } from '../config/presets.ts';

export interface TrainArguments {
  readonly name: string; // of the run
  readonly config: RunConfig;
  readonly requestedKnobs: Partial<RunConfig>; // knobs set by flags or by a preset
  readonly json: boolean;
  readonly facts: string | null; // a file of facts to train on
  readonly envFile: string | null; // an environment that a person wrote, to train on
  readonly envServer: string | null; // the address of an OpenEnv server to train on
  readonly from: string | null; // a folder or zip whose run, or weights, another run begins with
  readonly save: string | null; // a folder to save into; by default the folder of `resume`
  readonly saveEvery: number; // updates
  readonly resume: string | null; // a folder whose run is continued
  /** True if --resume and --save name the same folder. If it has no run, a new one begins. */
  readonly mayStartNew: boolean;
  readonly model: string | null; // a model to train adapters for: a GGUF file or a folder of Transformers
  readonly tensorboard: string | null; // a folder for an event file
  readonly passAt: number | null; // tries of each task before training, to measure pass@k
}

export const USAGE = [
  'npm run train -- --preset NAME --seed N --updates N [--backend gpu|cpu] [--set knob=value …] [--json]',
  '                 [--env-file FILE.ts|FILE.py | --env-server ws://127.0.0.1:8000/ws] [--facts FILE.csv]',
  '                 [--model FILE.gguf|FOLDER] [--from FOLDER|ZIP] [--save DIR] [--save-every N] [--resume DIR] [--tensorboard DIR] [--pass-at TRIES]',
].join('\n');
const OWN_FLAGS = {
  preset: 'value',
  set: 'values',
  'env-file': 'value',
  'env-server': 'value',
  facts: 'value',
  from: 'value',
  save: 'value',
  'save-every': 'value',
  resume: 'value',
  model: 'value',
  tensorboard: 'value',
  'pass-at': 'value',
  json: 'switch',
} as const;
const KNOB_FLAGS = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, 'value'])) as Readonly<
  Record<FieldName, 'value'>
>;
/** Flags of a command that trains: the flags in `OWN_FLAGS`, and every knob by its name. */
export const TRAIN_FLAGS = { ...KNOB_FLAGS, ...OWN_FLAGS };
const OWN_FLAG_NAMES = Object.keys(OWN_FLAGS).map((name) => `--${name}`);
/** Options for reading the flags: no positional arguments, and error messages don't list all knobs. */
export const TRAIN_FLAG_OPTIONS = { words: 0, have: `${OWN_FLAG_NAMES.join(', ')}, and every knob by its name, such as --seed and --updates` }; // prettier-ignore
export type TrainFlags = ReturnType<typeof readFlags<typeof TRAIN_FLAGS>>;
const DEFAULT_SAVE_EVERY = 25;
const MAX_TRIES = 1024;
const LEAVE_ONE = 'Leave one of them out.';

/** Reads the flags. Throws ConfigError that says what was found and what exists. */
export function parseArguments(args: readonly string[]): TrainArguments {
  return trainArguments(readFlags(args, TRAIN_FLAGS, TRAIN_FLAG_OPTIONS));
}

/** Converts parsed flags to arguments. Throws ConfigError that says what was found and what exists. */
export function trainArguments({
  given: flags,
  problems: flagProblems,
}: Pick<TrainFlags, 'given' | 'problems'>): TrainArguments {
  const problems: Problem[] = [...flagProblems];
  const setKnobs = knobsOf(flags, problems);
  const preset = flags.preset ?? null;
  if (preset !== null && !isPreset(preset)) {
    problems.push({
      what: `--preset can’t be ${visible(preset)}.`,
      remedy: `Use one of ${Object.keys(PRESETS).join(', ')}.`,
    });
  }
  const saveEvery = flags['save-every'] === undefined ? DEFAULT_SAVE_EVERY : (parseDecimal(flags['save-every']) ?? NaN);
  if (!Number.isInteger(saveEvery) || saveEvery < 1) {
    problems.push({
      what: `--save-every can’t be ${visible(flags['save-every'] ?? '')}.`,
      remedy: 'Use a whole number of updates from 1.',
    });
  }
  const passAt = flags['pass-at'] === undefined ? null : (parseDecimal(flags['pass-at']) ?? NaN);
  if (passAt !== null && (!Number.isInteger(passAt) || passAt < 1 || passAt > MAX_TRIES)) {
    problems.push({
      what: `--pass-at can’t be ${visible(flags['pass-at'] ?? '')}.`,
      remedy: `Use a whole number of tries from 1 to ${MAX_TRIES}.`,
    });
  }
  const {
    json = false,
    facts = null,
    from = null,
    resume = null,
    save = resume,
    model = null,
    tensorboard = null,
  } = flags;
  const { 'env-file': envFile = null, 'env-server': envServer = null } = flags;
  const mayStartNew = resume !== null && flags.save === resume;
  for (const flag of ['facts', 'from'] as const) {
    if (resume === null || mayStartNew || flags[flag] === undefined) continue;
    problems.push({
      what: `--${flag} ${visible(flags[flag])} can’t be combined with --resume. A saved run has its own.`,
    });
  }
  if (model !== null && from !== null) {
    problems.push({
      what: `--model ${visible(model, 4096)} can’t be combined with --from.`,
      remedy: 'Continue a run on a checkpoint with --resume.',
    });
  }
  for (const flag of ['preset', 'facts'] as const) {
    if (envFile === null || flags[flag] === undefined) continue;
    problems.push({
      what: `--${flag} ${visible(flags[flag])} can’t be combined with --env-file. The file is the task.`,
    });
  }
  for (const flag of ['env-file', 'facts'] as const) {
    if (envServer === null || flags[flag] === undefined) continue;
    problems.push({
      what: `--${flag} ${visible(flags[flag])} can’t be combined with --env-server. The server has the tasks.`,
    });
  }
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const presetName = preset !== null && isPreset(preset) ? preset : facts === null ? 'number-hunt' : 'your-facts';
  const hasServer = envServer !== null;
  const presetUsed =
    envFile !== null ? YOUR_ENVIRONMENT_PRESET : hasServer && preset === null ? SERVER_PRESET : PRESETS[presetName];
  const base: Partial<RunConfig> = presetUsed.set;
  const set = {
    ...base,
    // a preset in words is refused below, unless a flag sets another language: servers need text
    ...(hasServer && { ...serverKnobs(base), language: base.language ?? 'words' }),
    ...(facts !== null && { env: 'your-facts' }),
    ...setKnobs,
  };
  const config = parseConfig(set);
  if (model !== null && resume === null && config.model === 'sizes') {
    throw new ConfigError([
      {
        what: `--model ${visible(model, 4096)} has no use here: the run makes a model of its own.`,
        remedy:
          'Choose a preset on a checkpoint, such as smollm2-calculator, or --set model=checkpoint --set language=text.',
      },
    ]);
  }
  if (facts !== null && config.env !== 'your-facts') {
    throw new ConfigError([
      { what: `--facts only works with --env your-facts, not with ${config.env}.`, remedy: LEAVE_ONE },
    ]);
  }
  if (envFile !== null && config.env !== YOUR_ENVIRONMENT) {
    throw new ConfigError([
      {
        what: `--env-file can’t be combined with --env ${config.env}: the file is the environment.`,
        remedy: LEAVE_ONE,
      },
    ]);
  }
  if (hasServer && config.env !== YOUR_ENVIRONMENT) {
    throw new ConfigError([
      {
        what: `--env-server can’t be combined with --env ${config.env}: the server is the environment.`,
        remedy: LEAVE_ONE,
      },
    ]);
  }
  if (hasServer && config.language !== 'text') {
    throw new ConfigError([
      {
        ...{ place: '--env-server', what: 'a server’s tools are called in text.' },
        remedy:
          'Choose a preset in text, such as calculator-text, one on a checkpoint, such as smollm2-calculator, or none.',
      },
    ]);
  }
  const requested = preset === null ? setKnobs : set;
  const requestedKnobs = Object.fromEntries(
    Object.entries(requested).map(([knob, value]) => [knob, parseField(knob, value)]),
  );
  const changedTexts = Object.entries(setKnobs).map(([knob, value]) => `${knob} ${value}`);
  const name = [presetUsed.label, ...(changedTexts.length > 0 ? [changedTexts.join(', ')] : [])].join(': ');
  return {
    name,
    config,
    requestedKnobs,
    json,
    facts,
    envFile,
    envServer,
    from,
    save,
    saveEvery,
    resume,
    mayStartNew,
    model,
    tensorboard,
    passAt,
  };
}

/** The knobs that the flags set: by a flag with the knob's name, or by --set. */
function knobsOf(flags: TrainFlags['given'], problems: Problem[]): Record<string, string> {
  const fromFlags = Object.entries(flags).filter(([name]) => isFieldName(name) && !Object.hasOwn(OWN_FLAGS, name)) as [
    string,
    string,
  ][];
  const fromSet = (flags.set ?? []).flatMap((text): [string, string][] => {
    const [writtenName = '', setting] = text.split(/=(.*)/s);
    const knob = currentName(writtenName);
    if (setting === undefined)
      problems.push({ what: `--set can’t be ${text}.`, remedy: 'Use knob=value, such as learningRate=0.001.' });
    else if (isFieldName(knob)) return [[knob, setting]];
    else
      problems.push({
        place: '--set',
        what: `there is no knob ${knob}.`,
        remedy: knobRemedy(knob),
      });
    return [];
  });
  return Object.fromEntries([...fromFlags, ...fromSet]);
}

/** Names the knob that was probably meant; without one, lists all knobs. */
function knobRemedy(written: string): string {
  const names = Object.keys(FIELDS);
  const meant = names.find((name) => resembles(written, name));
  return meant === undefined ? `The knobs are ${names.join(', ')}.` : `Did you mean ${meant}?`;
}

/** The run's own, with the requested updates. Throws ConfigError if any other knob differs, or more updates are done than requested. */
export function resumedConfig(
  saved: RunConfig,
  requestedKnobs: TrainArguments['requestedKnobs'],
  done: number,
): RunConfig {
  const problems = Object.entries(requestedKnobs).flatMap(([knob, value]): Problem[] => {
    if (knob === 'updates') {
      if (Number(value) >= done) return [];
      return [{ what: `updates can’t be ${value}: ${done} are done.`, remedy: `Use ${done} or more.` }];
    }
    const savedValue = isFieldName(knob) ? saved[knob] : undefined;
    if (savedValue === value) return [];
    return [
      {
        what: `${knob} can’t be ${value}: the run was saved with ${savedValue}.`,
        remedy: 'Leave it out, or begin another run.',
      },
    ];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...saved, updates: requestedKnobs.updates ?? saved.updates };
}

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

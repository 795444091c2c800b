import { readFlags } from '../../tools/flags.mjs';
import { decimal } from '../base/decimal.ts';
import type { Problem } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { type FieldName, FIELDS, isFieldName, parseConfig, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { currentName } from '../config/fields.ts';
import { onServer, type PresetName, PRESETS, SERVER_PRESET, WRITTEN_PRESET } from '../config/presets.ts';

/** The arguments of `npm run train`. */
export interface TrainArguments {
  readonly name: string; // of the run
  readonly config: RunConfig;
  readonly asked: Partial<RunConfig>; // knobs set by flags or by a preset
  readonly json: boolean;
  readonly facts: string | null; // a file of facts to train on
  readonly envFile: string | null; // an environment that a person wrote, to train on
  readonly envServer: string | null; // the address of an OpenEnv server to train on
  readonly from: string | null; // a folder or zip whose run, or weights, another run begins with
  readonly save: string | null; // a folder to save into; by default the folder of `resume`
  readonly saveEvery: number; // updates
  readonly resume: string | null; // a folder whose run is continued
  /** True: if that folder has no run, a new one begins; --resume and --save name the same folder. */
  readonly mayBegin: boolean;
  readonly model: string | null; // a model to train adapters for: a GGUF file or a folder of Transformers
  readonly tensorboard: string | null; // a folder for an event file
}

/** The usage text of `npm run train`. */
export const USAGE = [
  'npm run train -- --preset NAME --seed N --updates N [--backend gpu|cpu] [--set knob=value …] [--json]',
  '                 [--env-file FILE.ts|FILE.py | --env-server ws://127.0.0.1:8000/ws] [--facts FILE.csv]',
  '                 [--model FILE.gguf|FOLDER] [--from FOLDER|ZIP] [--save DIR] [--save-every N] [--resume DIR] [--tensorboard DIR]',
].join('\n');
const OWN = {
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
  json: 'switch',
} as const;
const KNOBS = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, 'value'])) as Readonly<
  Record<FieldName, 'value'>
>;
/** Flags of a command that trains: its own, and every knob by its name. */
export const TRAIN_FLAGS = { ...KNOBS, ...OWN };
const NAMES = Object.keys(OWN).map((name) => `--${name}`);
/** Options for reading the flags: no positional arguments, and error messages don't list all knobs. */
export const TRAIN_WORDS = { words: 0, have: `${NAMES.join(', ')}, and every knob by its name, such as --seed and --updates` }; // prettier-ignore
/** The parsed flags of a command that trains. */
export type TrainFlags = ReturnType<typeof readFlags<typeof TRAIN_FLAGS>>;
const SAVE_EVERY = 25;
const LEAVE_ONE = 'Leave one of them out.';

/** Reads the flags. Throws ConfigError that says what was found and what exists. */
export function parseArguments(args: readonly string[]): TrainArguments {
  return trainArguments(readFlags(args, TRAIN_FLAGS, TRAIN_WORDS));
}

/** Converts parsed flags to arguments. Throws ConfigError that says what was found and what exists. */
export function trainArguments({
  given: own,
  problems: unread,
}: Pick<TrainFlags, 'given' | 'problems'>): TrainArguments {
  const problems: Problem[] = [...unread];
  const given = knobsOf(own, problems);
  const preset = own.preset ?? null;
  if (preset !== null && !isPreset(preset)) {
    problems.push({
      what: `--preset can’t be ${visible(preset)}.`,
      remedy: `Use one of ${Object.keys(PRESETS).join(', ')}.`,
    });
  }
  const every = own['save-every'] === undefined ? SAVE_EVERY : (decimal(own['save-every']) ?? NaN);
  if (!Number.isInteger(every) || every < 1) {
    problems.push({
      what: `--save-every can’t be ${visible(own['save-every'] ?? '')}.`,
      remedy: 'Use a whole number of updates from 1.',
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
  } = own;
  const { 'env-file': envFile = null, 'env-server': envServer = null } = own;
  const mayBegin = resume !== null && own.save === resume;
  for (const flag of ['facts', 'from'] as const) {
    if (resume === null || mayBegin || own[flag] === undefined) continue;
    problems.push({
      what: `--${flag} ${visible(own[flag])} can’t be combined with --resume. A saved run has its own.`,
    });
  }
  if (model !== null && from !== null) {
    problems.push({
      what: `--model ${visible(model, 4096)} can’t be combined with --from.`,
      remedy: 'Continue a run on a checkpoint with --resume.',
    });
  }
  for (const flag of ['preset', 'facts'] as const) {
    if (envFile === null || own[flag] === undefined) continue;
    problems.push({ what: `--${flag} ${visible(own[flag])} can’t be combined with --env-file. The file is the task.` });
  }
  for (const flag of ['env-file', 'facts'] as const) {
    if (envServer === null || own[flag] === undefined) continue;
    problems.push({
      what: `--${flag} ${visible(own[flag])} can’t be combined with --env-server. The server has the tasks.`,
    });
  }
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const chosen = preset !== null && isPreset(preset) ? preset : facts === null ? 'number-hunt' : 'your-facts';
  const served = envServer !== null;
  const defaults = envFile !== null ? WRITTEN_PRESET : served && preset === null ? SERVER_PRESET : PRESETS[chosen];
  const base: Partial<RunConfig> = defaults.set;
  const set = {
    ...base,
    // a preset in words is refused below, unless a flag sets another language: servers need text
    ...(served && { ...onServer(base), language: base.language ?? 'words' }),
    ...(facts !== null && { env: 'your-facts' }),
    ...given,
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
  if (served && config.env !== YOUR_ENVIRONMENT) {
    throw new ConfigError([
      {
        what: `--env-server can’t be combined with --env ${config.env}: the server is the environment.`,
        remedy: LEAVE_ONE,
      },
    ]);
  }
  if (served && config.language !== 'text') {
    throw new ConfigError([
      {
        ...{ place: '--env-server', what: 'a server’s tools are called in text.' },
        remedy:
          'Choose a preset in text, such as calculator-text, one on a checkpoint, such as smollm2-calculator, or none.',
      },
    ]);
  }
  const named = preset === null ? given : set;
  const asked = Object.fromEntries(Object.entries(named).map(([knob, value]) => [knob, parseField(knob, value)]));
  const changed = Object.entries(given).map(([knob, value]) => `${knob} ${value}`);
  const name = [defaults.label, ...(changed.length > 0 ? [changed.join(', ')] : [])].join(': ');
  return {
    name,
    config,
    asked,
    json,
    facts,
    envFile,
    envServer,
    from,
    save,
    saveEvery: every,
    resume,
    mayBegin,
    model,
    tensorboard,
  };
}

/** The knobs that were set, by their own flags or by --set. */
function knobsOf(own: TrainFlags['given'], problems: Problem[]): Record<string, string> {
  const named = Object.entries(own).filter(([name]) => isFieldName(name) && !Object.hasOwn(OWN, name)) as [
    string,
    string,
  ][];
  const set = (own.set ?? []).flatMap((text): [string, string][] => {
    const [named = '', setting] = text.split(/=(.*)/s);
    const knob = currentName(named);
    if (setting === undefined)
      problems.push({ what: `--set can’t be ${text}.`, remedy: 'Use knob=value, such as learningRate=0.001.' });
    else if (isFieldName(knob)) return [[knob, setting]];
    else
      problems.push({
        place: '--set',
        what: `there is no knob ${knob}.`,
        remedy: `The knobs are ${Object.keys(FIELDS).join(', ')}.`,
      });
    return [];
  });
  return Object.fromEntries([...named, ...set]);
}

/**
 * The knobs with which a saved run continues: its own, with the requested number of updates. Throws ConfigError if any
 * other knob is requested with another value, or if more updates are done than requested.
 */
export function resumedConfig(saved: RunConfig, asked: TrainArguments['asked'], done: number): RunConfig {
  const problems = Object.entries(asked).flatMap(([knob, value]): Problem[] => {
    if (knob === 'updates') {
      if (Number(value) >= done) return [];
      return [{ what: `updates can’t be ${value}: ${done} are done.`, remedy: `Use ${done} or more.` }];
    }
    const had = isFieldName(knob) ? saved[knob] : undefined;
    if (had === value) return [];
    return [
      {
        what: `${knob} can’t be ${value}: the run was saved with ${had}.`,
        remedy: 'Leave it out, or begin another run.',
      },
    ];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...saved, updates: asked.updates ?? saved.updates };
}

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

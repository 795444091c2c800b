import { FIELDS, parseConfig, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/problem.ts';
import { type PresetName, PRESETS } from '../config/presets.ts';

/** What `npm run train` was asked to do. */
export interface TrainArguments {
  readonly config: RunConfig;
  readonly json: boolean;
  readonly facts: string | null; // a file of facts to train on
  readonly from: string | null; // a folder or zip to go on from
  readonly given: Readonly<Record<string, string>>; // knobs that were named
}

/** How `npm run train` is called. */
export const USAGE =
  'npm run train -- --preset NAME --seed N --updates N [--backend gpu|cpu] [--set knob=value …] [--facts FILE] [--from FOLDER|ZIP] [--json]';

/** Reads the flags. Throws ConfigError naming what was got and what exists. */
export function parseArguments(args: readonly string[]): TrainArguments {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  let preset: PresetName | null = null;
  let json = false;
  let facts: string | null = null;
  let from: string | null = null;
  for (let i = 0; i < args.length; i++) {
    const flag = args[i] ?? '';
    if (flag === '--json') {
      json = true;
      continue;
    }
    const name = flag.slice(2);
    if (!flag.startsWith('--') || !(['preset', 'set', 'facts', 'from'].includes(name) || Object.hasOwn(FIELDS, name))) {
      problems.push(
        `${flag}: no such flag. Have --preset, --set, --facts, --from, --json, and every knob by its name, such as --seed and --updates.`,
      );
      if (flag.startsWith('--') && args[i + 1]?.startsWith('--') === false) i++; // its value
      continue;
    }
    const value = args[++i];
    if (value === undefined || value.startsWith('--')) {
      problems.push(`${flag}: got nothing; want a value.`);
      i--;
    } else if (name === 'preset') {
      if (isPreset(value)) preset = value;
      else problems.push(`--preset: got ${value}; want one of ${Object.keys(PRESETS).join(', ')}.`);
    } else if (name === 'facts') {
      facts = value;
    } else if (name === 'from') {
      from = value;
    } else if (name === 'set') {
      const [knob = '', setting] = value.split(/=(.*)/s);
      if (setting === undefined) problems.push(`--set: got ${value}; want knob=value, such as learningRate=0.001.`);
      else if (!Object.hasOwn(FIELDS, knob)) {
        problems.push(`--set: got ${knob}; no such knob. Have ${Object.keys(FIELDS).join(', ')}.`);
      } else given[knob] = setting;
    } else given[name] = value;
  }
  if (problems.length > 0) throw new ConfigError([...problems, USAGE]);
  const chosen = preset ?? (facts === null ? 'number-hunt' : 'your-facts');
  const config = parseConfig({ ...PRESETS[chosen].set, ...(facts !== null && { env: 'your-facts' }), ...given });
  if (facts !== null && config.env !== 'your-facts') {
    throw new ConfigError([
      `--facts: only your-facts asks about a file; got --env ${config.env}. Leave one of them out.`,
    ]);
  }
  return { config, json, facts, from, given };
}

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

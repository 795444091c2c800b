import { readFlags } from '../../tools/flags.mjs';
import { FIELDS, isFieldName, parseConfig, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { weightsFileOf } from '../model/weightsFile.ts';
import { PRESETS } from '../config/presets.ts';
import { warmFile } from '../rl/warmStart.ts';
import { finishImitation } from '../session/imitation.ts';
import { openSession } from '../session/session.ts';
import { writableFolder, writeWhole } from './files.ts';
import { nodeHost, WARM_FOLDER } from './nodeHost.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';

const USAGE = 'npm run warmstart [-- ENV]   (imitates demonstrations and writes public/warm, one file an environment)';
// The seed of the shipped files; changing it changes every run that begins from them.
const SEED = 20;

/** `npm run warmstart [-- ENV]`: imitates demonstrations and writes the shipped weights, one file per environment. */
async function main(args: readonly string[]): Promise<number> {
  const { positionals, problems } = readFlags(args, {});
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const [chosen] = positionals;
  const presetOf = (env: string): Partial<RunConfig> =>
    Object.entries(PRESETS).find(([name]) => name === env)?.[1].set ?? {};
  // A person's own facts use the weights of world facts, and some presets begin from random weights: neither has a file.
  const shipped = FIELDS.env.choices.filter((env) => env !== 'your-facts' && presetOf(env).warmStart === undefined);
  if (positionals.length > 1 || (chosen !== undefined && !shipped.some((env) => env === chosen))) {
    const what = `warmstart can’t make ${positionals.join(' ')}.`;
    throw new ConfigError([{ what, remedy: `Use one of ${shipped.join(', ')}, or nothing.` }], { usage: `  ${USAGE}` });
  }
  await writableFolder(WARM_FOLDER);
  const host = await nodeHost(false);
  const show = progress(process.stderr, false);
  for (const env of shipped.filter((each) => chosen === undefined || each === chosen)) {
    const preset = presetOf(env); // the tasks of its preset: demonstrations depend on them
    const tasks = Object.entries(preset).filter(([name]) => isFieldName(name) && FIELDS[name].group === 'task');
    const { evaluation } = preset;
    const config = parseConfig({
      ...Object.fromEntries(tasks),
      env,
      ...(evaluation && { evaluation }),
      seed: SEED,
      backend: 'cpu',
      warmStart: 'train',
      evalTasks: 1024,
    });
    const session = await openSession(config, host, () => undefined);
    await finishImitation({ ...session, startConfig: config }, host, show.phase);
    const { policy } = await session.policy.readState();
    const file = `${WARM_FOLDER}/${warmFile(config)}`;
    await writeWhole(file, new Uint8Array(weightsFileOf(session.policy.model, policy.weights)));
    show.end();
    console.log(file, await session.parametersHash(), JSON.stringify(await session.evaluate()));
    session.dispose();
  }
  return 0;
}

await program('warmstart', USAGE, main);

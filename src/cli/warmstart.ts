import { mkdir, writeFile } from 'node:fs/promises';
import { FIELDS, isFieldName, parseConfig, type RunConfig } from '../config.ts';
import { checkpointOf } from '../model/checkpoint.ts';
import { PRESETS } from '../presets.ts';
import { warmFile } from '../rl/warmFiles.ts';
import { openSession } from '../session.ts';
import { nodeHost, WARM_FOLDER } from './host.ts';
import { progress } from './progress.ts';

// The seed of the shipped files; changing it changes every run that begins from them.
const SEED = 20;

/** `npm run warmstart [-- ENV]`: imitates demonstrations and writes the shipped weights, one file per environment. */
async function main(): Promise<void> {
  await mkdir(WARM_FOLDER, { recursive: true });
  const host = await nodeHost(false);
  const show = progress(process.stderr, false);
  const only = process.argv[2];
  const presetOf = (env: string): Partial<RunConfig> =>
    Object.entries(PRESETS).find(([name]) => name === env)?.[1].set ?? {};
  // facts that a person brings are searched with the weights of world facts; some presets begin from random weights
  const shipped = FIELDS.env.choices.filter((env) => env !== 'your-facts' && presetOf(env).warmStart === undefined);
  for (const env of shipped.filter((each) => only === undefined || each === only)) {
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
    const session = await openSession(config, host, (event) => {
      if (event.type === 'phase') show.phase(event);
    });
    const { policy } = await session.policy.readState();
    const file = `${WARM_FOLDER}/${warmFile(config)}`;
    await writeFile(file, new Uint8Array(checkpointOf(session.policy.model, policy.weights)));
    show.end();
    console.log(file, await session.parametersHash(), JSON.stringify(await session.evaluate()));
    session.dispose();
  }
}

await main();

import { type Form, FORMS } from '../checkpoints/config.ts';
import { FILES } from '../checkpoints/folder.ts';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { ConfigError } from '../config/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import { PRESETS } from '../config/presets.ts';
import type { Facts } from '../facts/facts.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { bareRun } from '../runs/run.ts';
import { RunLog } from '../runs/runLog.ts';
import { openSession, type Session } from '../session/session.ts';
import { parseArguments } from './arguments.ts';
import { callerPath } from './files.ts';
import { readFolder, writeFolder } from './folders.ts';
import { nodeHost } from './host.ts';
import { program } from './program.ts';
import { progress, type Progress } from './progress.ts';
import { readFacts } from './readFacts.ts';
import { keepSaved } from './savedRun.ts';

const USAGE =
  'npm run export -- --out FOLDER|FILE.zip [--form llama|qwen2] (--run FOLDER|ZIP | --preset NAME --seed N --updates N [flags of npm run train])';

/** `npm run export`: trains, or takes a run that was saved, and writes it as the folder of a Hugging Face model. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, form, rest } = ownFlags(args);
  if (source !== null && rest.length > 0) {
    throw new ConfigError([
      `export: got --run and ${rest.join(' ')}; want one of them: a saved run is exported as it is.`,
    ]);
  }
  keepSaved('--out', out);
  const run = source === null ? await trained(rest) : await saved(source);
  const place = callerPath(out);
  const files = checkpointFiles(run, form);
  await writeFolder(place, files);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  const { update } = run;
  console.log(JSON.stringify({ kind: 'export', out: place, files: [...files.keys()], bytes, update }));
  return 0;
}

/** What `npm run train` does not take. */
interface Own {
  readonly out: string;
  readonly run: string | null;
  readonly form: Form;
  readonly rest: readonly string[];
}

/** The flags that are not of `npm run train`. */
function ownFlags(args: readonly string[]): Own {
  const rest = [...args];
  const take = (flag: string): string | null => {
    const at = rest.indexOf(flag);
    if (at < 0) return null;
    const [, value] = rest.splice(at, 2);
    if (value === undefined || value.startsWith('--'))
      throw new ConfigError([`${flag}: got nothing; want a path.`, USAGE]);
    return value;
  };
  const [out, run, named = 'llama'] = [take('--out'), take('--run'), take('--form') ?? undefined];
  const form = FORMS.find((each) => each === named);
  if (!form) throw new ConfigError([`--form: got ${named}; want ${FORMS.join(' or ')}.`, USAGE]);
  if (out === null) throw new ConfigError(['--out: got nothing; want a folder, or a file that ends in .zip.', USAGE]);
  return { out, run, form, rest };
}

async function saved(place: string): Promise<PackedRun> {
  const read = readCheckpointFiles(await readFolder(callerPath(place)));
  if (read.kind === 'ours') return read.run;
  throw new ConfigError([
    `--run: got a folder without ${FILES.manifest}; want one that was exported or saved here. npm run train -- --from ${place} trains on from its weights.`,
  ]);
}

async function trained(args: readonly string[]): Promise<PackedRun> {
  const { config, json, facts: file } = parseArguments(args);
  const facts = file === null ? null : await readFacts(file);
  const show = progress(process.stderr, json);
  const log = new RunLog(bareRun({ ...{ id: 0, name: nameOf(config), started: new Date().toISOString(), begun: config }, facts })); // prettier-ignore
  const session = await openSession(
    config,
    await nodeHost(config.backend !== 'cpu'),
    (event) => {
      if (event.type === 'ready') log.hear(event);
      if (event.type === 'ready') show.ready(event.backend);
      if (event.type === 'phase') show.phase(event);
    },
    facts,
  );
  try {
    return await trainToEnd(session, log, show, facts);
  } finally {
    session.dispose();
  }
}

async function trainToEnd(session: Session, log: RunLog, show: Progress, facts: Facts | null): Promise<PackedRun> {
  for await (const event of session.events) {
    if (event.type === 'answer' || event.type === 'checkpoint' || event.type === 'alive') continue;
    log.hear(event);
    if (event.type === 'phase') show.phase(event);
    if (event.type === 'metrics' && event.update > 0) show.update(event.update, session.config().updates, event.values);
    if (event.type === 'error') show.problem(event.message, event.hint);
    if (event.type === 'error' || log.finished) break; // what was learned so far is kept
  }
  show.end();
  return packedRun({ ...log.run, facts, checkpoint: await session.checkpoint() });
}

/** The preset whose environment and algorithm it has, or those. */
function nameOf({ env, estimator, seed }: RunConfig): string {
  const preset = Object.values(PRESETS).find(({ set }) => 'env' in set && set.env === env && 'estimator' in set && set.estimator === estimator); // prettier-ignore
  return `${preset?.label ?? `${env}, ${estimator}`}, seed ${seed}`;
}

await program('export', USAGE, main);

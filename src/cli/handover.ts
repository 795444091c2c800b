import { readCheckpointFiles } from '../checkpoints/read.ts';
import { ConfigError } from '../config/problem.ts';
import { createEnv } from '../envs/index.ts';
import { type Engine, ENGINES } from '../config/mappedKnob.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { bareRun } from '../runs/run.ts';
import { handOver } from '../session/handover.ts';
import { openSession } from '../session/session.ts';
import type { RunEvent } from '../wire/events.ts';
import { factsFor } from '../session/worlds.ts';
import { parseArguments } from './arguments.ts';
import { callerPath } from './files.ts';
import { readFolder, writeFolder } from './folders.ts';
import { nodeHost } from './host.ts';
import { program } from './program.ts';
import { progress } from './progress.ts';
import { readFacts } from './readFacts.ts';
import { keepSaved } from './savedRun.ts';

const USAGE =
  'npm run handover -- --for verl|trl --out FOLDER|FILE.zip (--run FOLDER|ZIP | --preset NAME [flags of npm run train])';

/** `npm run handover`: a saved run, or one as it would begin, as a folder that trains the same task on an engine. */
async function main(args: readonly string[]): Promise<number> {
  const { flags, rest } = ownFlags(args);
  const engine = engineOf(flags['--for']);
  const out = flags['--out'];
  const source = flags['--run'];
  if (out === undefined) throw new ConfigError(['--out: got nothing; want a folder, or a file that ends in .zip.', USAGE]); // prettier-ignore
  if (source !== undefined && rest.length > 0) {
    throw new ConfigError([
      `handover: got --run and ${rest.join(' ')}; want one of them: a saved run is handed over as it is.`,
    ]);
  }
  keepSaved('--out', out, 'model');
  const run = source === undefined ? await begun(rest) : await saved(source);
  const { shippedFile } = await nodeHost(false);
  const facts = await factsFor(run.checkpoint.begun, run.facts, shippedFile);
  const files = handOver(engine, run, createEnv(run.checkpoint.begun, facts));
  const place = callerPath(out);
  await writeFolder(place, files);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(JSON.stringify({ kind: 'handover', for: engine, out: place, files: [...files.keys()], bytes }));
  return 0;
}

/** The flags that are not of `npm run train`. */
function ownFlags(args: readonly string[]) {
  const flags: Partial<Record<'--for' | '--out' | '--run', string>> = {};
  const rest = [...args];
  for (const flag of ['--for', '--out', '--run'] as const) {
    const at = rest.indexOf(flag);
    if (at < 0) continue;
    const [, value] = rest.splice(at, 2);
    if (value === undefined || value.startsWith('--')) throw new ConfigError([`${flag}: got nothing; want a value.`, USAGE]); // prettier-ignore
    flags[flag] = value;
  }
  return { flags, rest };
}

function engineOf(name: string | undefined): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (engine) return engine;
  throw new ConfigError([`--for: got ${name ?? 'nothing'}; want one of ${ENGINES.join(', ')}.`, USAGE]);
}

async function saved(place: string): Promise<PackedRun> {
  const read = readCheckpointFiles(await readFolder(callerPath(place)));
  if (read.kind === 'ours') return read.run;
  throw new ConfigError([
    `--run: got a folder of another program; want one that npm run export or npm run train -- --save wrote.`,
  ]);
}

/** A run before its first update, warm start done. */
async function begun(args: readonly string[]): Promise<PackedRun> {
  const { config, facts: file } = parseArguments(args);
  const facts = file === null ? null : await readFacts(file);
  const show = progress(process.stderr, false);
  const heard: RunEvent[] = [];
  const session = await openSession(
    config,
    await nodeHost(config.backend !== 'cpu'),
    (event) => {
      heard.push(event);
      if (event.type === 'phase') show.phase(event);
    },
    facts,
  );
  show.end();
  try {
    const backend = heard.flatMap((event) => (event.type === 'ready' ? [event.backend] : []))[0];
    const name = `${config.env}, seed ${config.seed}`;
    const bare = bareRun({ ...{ id: 0, name, started: new Date().toISOString(), begun: config, facts }, ...(backend && { backend }) }); // prettier-ignore
    return packedRun({ ...bare, checkpoint: await session.checkpoint() });
  } finally {
    session.dispose();
  }
}

await program('handover', USAGE, main);

import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { bareRun, type Run } from '../runs/run.ts';
import { unpackedRun, type PackedRun } from '../runs/packed.ts';
import type { Host } from '../session/host.ts';
import type { TrainArguments } from './arguments.ts';
import { MAX_FACTS_BYTES } from '../facts/decode.ts';
import type { Facts } from '../facts/facts.ts';
import { parseFacts } from '../facts/parse.ts';
import { callerPath, readWhole } from './files.ts';
import path from 'node:path';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { visible } from '../base/visible.ts';
import { parseConfig, reconfigured } from '../config/config.ts';
import type { RunConfig } from '../config/fields.ts';
import { ConfigError } from '../config/configProblem.ts';
import { checkpointOf } from '../runs/checkpoint.ts';
import { foreignRun } from '../session/foreignRun.ts';
import { readFolder } from './diskFolders.ts';
import { withOwnEnvironment } from './ownEnvironment.ts';

/**
 * The run that the flags of `npm run train` describe: a new one, or one that continues from `--from`. Throws
 * ProblemError, and the errors of `continuedRun`.
 */
export async function freshRun(
  asked: TrainArguments,
  host: Host,
  environment: EnvironmentFile | null = null,
): Promise<Run> {
  const { name, config, from } = asked;
  const facts = asked.facts === null ? null : await readFacts(asked.facts);
  if (from !== null) return unpackedRun(await continuedRun(from, { ...asked, facts, environment }, host));
  return bareRun({ id: 0, name, started: new Date().toISOString(), begun: config, facts, environment });
}

/** Reads the facts of a file. Throws ProblemError if the file can't be read or used. */
async function readFacts(file: string): Promise<Facts> {
  const { facts, notes } = parseFacts(file, await readWhole(callerPath(file), MAX_FACTS_BYTES));
  for (const note of notes) console.error(note);
  return facts;
}

/** The arguments in addition to the folder. */
interface Asked {
  readonly config: RunConfig; // the knobs of a new run
  readonly asked: Partial<RunConfig>; // knobs set by flags or by a preset
  readonly facts: Facts | null;
  readonly environment: EnvironmentFile | null;
}

/**
 * The run with which to continue from a folder or zip. A run of this project continues as it was, with the knobs that
 * were set. For weights of another program a new run begins with them in the requested environment. Throws
 * ProblemError, with everything that doesn't fit, and ConfigError for knobs that can't change during a run.
 */
async function continuedRun(
  place: string,
  { config, asked, facts, environment }: Asked,
  host: Host,
): Promise<PackedRun> {
  const read = readCheckpointFiles(await readFolder(callerPath(place)));
  if (read.kind === 'ours') {
    if (facts !== null) {
      throw new ConfigError([
        { what: `--facts ${visible(facts.source)} can’t be combined with --from. A saved run has its own.` },
      ]);
    }
    const { backend = read.run.begun.backend, ...knobs } = asked;
    const { begun, config: then, ...rest } = read.run.checkpoint;
    // the run may continue on another backend
    const elsewhere = (knobs: RunConfig) => parseConfig({ ...knobs, backend });
    const now = reconfigured(elsewhere(then), knobs);
    const checkpoint = checkpointOf({ ...rest, begun: elsewhere(begun), config: now });
    const own = withOwnEnvironment(read.run, environment, place);
    return { ...own, begun: checkpoint.begun, config: now, checkpoint };
  }
  const name = path.basename(callerPath(place));
  return foreignRun(read.model, { name, config, facts, environment }, host);
}

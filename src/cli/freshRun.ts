import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { bareRun, type Run } from '../runs/run.ts';
import { unpackedRun, type PackedRun } from '../runs/packed.ts';
import type { Host } from '../session/host.ts';
import type { TrainArguments } from './arguments.ts';
import { MOST_BYTES } from '../facts/decode.ts';
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
 * The run that the flags of `npm run train` ask for: one that begins, or goes on from `--from`. Throws ProblemError, and what `continuedRun`
 * throws.
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

/** The facts of a file. Throws ProblemError where it cannot be read, ProblemError where it cannot be used. */
async function readFacts(file: string): Promise<Facts> {
  const { facts, notes } = parseFacts(file, await readWhole(callerPath(file), MOST_BYTES));
  for (const note of notes) console.error(note);
  return facts;
}

/** What was asked for beside the folder. */
interface Asked {
  readonly config: RunConfig; // of a run that began now
  readonly asked: Partial<RunConfig>; // knobs that were named, one by one or by a preset
  readonly facts: Facts | null;
  readonly environment: EnvironmentFile | null;
}

/**
 * The run of a folder or zip, to go on with: this project's as it was, under the knobs that were named, or one that begins with another
 * program's weights in the environment that was asked for. Throws ProblemError, ProblemError with all that does not fit, and ConfigError for
 * knobs that cannot change on the way.
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
    const elsewhere = (knobs: RunConfig) => parseConfig({ ...knobs, backend }); // it may go on on another
    const now = reconfigured(elsewhere(then), knobs);
    const checkpoint = checkpointOf({ ...rest, begun: elsewhere(begun), config: now });
    const own = withOwnEnvironment(read.run, environment, place);
    return { ...own, begun: checkpoint.begun, config: now, checkpoint };
  }
  const name = path.basename(callerPath(place));
  return foreignRun(read.model, { name, config, facts, environment }, host);
}

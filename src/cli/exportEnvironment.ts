import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../config/configProblem.ts';
import type { CheckReport } from '../written/checker.ts';
import type { OpenedFile } from '../written/openWritten.ts';
import { checkedExport } from '../written/exports/checkedExport.ts';
import { isZipName, tryFolder, writeFolder } from './diskFolders.ts';
import { callerPath } from './files.ts';
import { sandboxMachine } from './openEnvironmentFile.ts';

/** A file that every export has, and hardly any other folder. */
const MARK = 'machine/environment.json';

/**
 * Tries whether an export can be written to a folder or zip: a folder has to be new, empty, or an earlier export. Throws ConfigError
 * and FileError.
 */
export async function tryExport(out: string): Promise<void> {
  const place = callerPath(out);
  const taken = isZipName(place)
    ? existsSync(place)
    : existsSync(place) && readdirSync(place).length > 0 && !existsSync(path.join(place, MARK));
  if (taken) throw new ConfigError([`--export: ${out} already exists and isn’t an earlier export. Name a new folder.`]);
  await tryFolder(place);
}

/**
 * Writes an environment as a folder that TRL, verifiers, OpenEnv and verl train on; returns the files' names, or null where its check
 * found a fault and nothing is written. Throws EnvironmentFileError.
 */
export async function writeExport(
  out: string,
  opened: OpenedFile,
  report: CheckReport,
): Promise<readonly string[] | null> {
  const files = checkedExport(opened, report, await sandboxMachine());
  if (!files) return null;
  await writeFolder(callerPath(out), files);
  return [...files.keys()];
}

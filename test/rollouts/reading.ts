import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { KeptBatch } from '../../src/domain/batch.ts';
import { Library, type FileReport, type NamedFile } from '../../src/rollouts/library.ts';
import type { LineProblem } from '../../src/rollouts/fileRefusal.ts';
import { RolloutTable } from '../../src/rollouts/columns.ts';
import { DEFAULT_PATTERN, type SplitPattern } from '../../src/rollouts/splitPattern.ts';
import type { RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import { shippedRecording } from '../shippedRecording.ts';

/** Files as a page is given them. */
const FIXTURES = 'test/fixtures/rollouts';

/** A file of text or bytes. */
export function fileOf(name: string, content: string | Uint8Array<ArrayBuffer>): NamedFile {
  return { path: name, file: new Blob([content]) };
}

/** A folder of fixtures. */
export function fixture(folder: string): NamedFile[] {
  return readdirSync(path.join(FIXTURES, folder)).map((name) =>
    fileOf(`${folder}/${name}`, new Uint8Array(readFileSync(path.join(FIXTURES, folder, name)))),
  );
}

/** All that opening files tells. */
export interface ReadAll {
  readonly library: Library;
  readonly table: RolloutTable;
  readonly records: readonly RolloutRecord[];
  readonly groups: readonly string[];
  readonly problems: readonly LineProblem[];
  readonly files: readonly FileReport[];
}

/** Opens files and reads every rollout again from its place. */
export async function readAll(files: readonly NamedFile[], pattern: SplitPattern = DEFAULT_PATTERN): Promise<ReadAll> {
  const library = new Library();
  const table = new RolloutTable();
  const problems: LineProblem[] = [];
  const groups: string[] = [];
  let reports: readonly FileReport[] = [];
  for await (const opened of library.open(files, pattern)) {
    table.append(opened.block);
    problems.push(...opened.problems);
    for (const [index, label] of opened.groups) groups[index] = label;
    reports = opened.files;
  }
  const records: RolloutRecord[] = [];
  for (let row = 0; row < library.rows; row++) records.push(await library.read(row, pattern));
  return { library, table, records, groups, problems, files: reports };
}

/** The batches of the shipped recording, and their vocabulary. */
export function recordedBatches(): { readonly batches: readonly KeptBatch[]; readonly vocabulary: readonly string[] } {
  return shippedRecording();
}

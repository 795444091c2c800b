import { create } from 'zustand';
import type { PlacedFile } from '../parts/placedFiles.ts';
import { type ClassFile, damagedFile, type FileProblem, isClassFile, mergeFiles, readClassFile } from './classFile.ts';

interface ClassState {
  readonly files: readonly ClassFile[];
  readonly problems: readonly FileProblem[]; // of the files given last
}

/** The results a class has handed in. They last as long as the page. */
export const useClass = create<ClassState>()(() => ({ files: [], problems: [] }));

/** A file of results is some kilobytes: what is far larger is none, and is not read. */
const MOST_BYTES = 2 ** 20;

/** Reads files of results and merges them into those that are there; what is wrong with the others is told. */
export async function addFiles(given: readonly PlacedFile[]): Promise<void> {
  const read = await Promise.all(
    given.map(async ({ path, file }) =>
      file.size > MOST_BYTES
        ? damagedFile(path, { word: 'gotBytes', values: { bytes: file.size } })
        : readClassFile(path, await file.text()),
    ),
  );
  const { files } = useClass.getState();
  const merged = mergeFiles(files, read.filter(isClassFile));
  const refused = read.flatMap((each) => (isClassFile(each) ? [] : [each]));
  useClass.setState({ files: merged.files, problems: [...refused, ...merged.problems] });
}

/** Takes all results out. */
export function clearClass(): void {
  useClass.setState({ files: [], problems: [] });
}

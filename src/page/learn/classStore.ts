import { create } from 'zustand';
import type { FileWithPath } from '../browser/filesWithPaths.ts';
import { type ClassFile, damagedFile, type FileProblem, isClassFile, mergeFiles, readClassFile } from './classFile.ts';

interface ClassState {
  readonly files: readonly ClassFile[];
  readonly problems: readonly FileProblem[]; // of the files added last
}

/** The results that a class has handed in. They are lost when the page closes. */
export const useClass = create<ClassState>()(() => ({ files: [], problems: [] }));

/** A larger file is refused without reading it. A results file has only a few kilobytes. */
const MAX_FILE_BYTES = 2 ** 20;

/** Reads files of results and merges them into the existing ones. Files that are not valid become problems. */
export async function addFiles(placedFiles: readonly FileWithPath[]): Promise<void> {
  const results = await Promise.all(
    placedFiles.map(async ({ path, file }) =>
      file.size > MAX_FILE_BYTES
        ? damagedFile(path, { word: 'gotBytes', values: { bytes: file.size } })
        : readClassFile(path, await file.text()),
    ),
  );
  const { files } = useClass.getState();
  const merged = mergeFiles(files, results.filter(isClassFile));
  const refused = results.flatMap((each) => (isClassFile(each) ? [] : [each]));
  useClass.setState({ files: merged.files, problems: [...refused, ...merged.problems] });
}

export function clearClass(): void {
  useClass.setState({ files: [], problems: [] });
}

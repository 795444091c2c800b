import { isCount, isRecord } from '../../base/jsonRecord.ts';
import { visible } from '../../base/visible.ts';
import { checksumOf } from '../../base/checksum.ts';
import { chapterNamed, type ChapterId } from './chapters.ts';
import { keyOf, readResults, type Results } from './exerciseResult.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';

/** The schema name of a file of results. */
export const SCHEMA = 'rollout-playground/chapter-results';
const FILE_VERSION = 1;
const MAX_NAME_LENGTH = 60; // characters

export interface StudentHandIn {
  readonly chapter: ChapterId;
  readonly name: string;
  // number of the file, counted from 1 by the student's browser; 0: saved by an older page, which did not count
  readonly handIn: number;
  readonly saved: string; // ISO 8601, by the student's clock
  readonly results: Results; // of the chapter's exercises
}

export interface ClassFile extends StudentHandIn {
  readonly file: string;
}

/** Message about a file: why it was refused, or that it repeats or replaces another one. */
export interface FileProblem extends Required<LearnMessage> {
  readonly word: 'damaged' | 'foreign' | 'newer' | 'duplicate' | 'again';
}

export function classFileText({ chapter, name, handIn, saved, results }: StudentHandIn): string {
  return `${JSON.stringify({ schema: SCHEMA, version: FILE_VERSION, chapter, name, handIn, saved, results }, null, 2)}\n`;
}

export function readClassFile(file: string, text: string): ClassFile | FileProblem {
  const damaged = (word: LearnMessage['word'], values: LearnMessage['values'] = {}) =>
    damagedFile(file, { word, values });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return damaged(text.trim() === '' ? 'gotEmpty' : 'gotNoJson');
  }
  const { schema, version, chapter, name, handIn = 0, saved, results } = isRecord(value) ? value : {};
  if (schema !== SCHEMA) {
    const got: LearnMessage =
      typeof schema === 'string' ? { word: 'gotSchema', values: { schema: visible(schema) } } : { word: 'gotNoSchema' };
    return { word: 'foreign', values: { file: visible(file), got, want: SCHEMA } };
  }
  if (version !== FILE_VERSION) {
    return {
      word: 'newer',
      values: { file: visible(file), got: visible(String(version)), want: String(FILE_VERSION) },
    };
  }
  const chapterId = typeof chapter === 'string' ? chapterNamed(chapter)?.id : undefined;
  if (!chapterId) return damaged('gotChapter', { chapter: visible(String(chapter)) });
  if (typeof name !== 'string' || name.trim() === '') return damaged('gotNoName');
  if (!isCount(handIn)) return damaged('gotNoCount', { count: visible(JSON.stringify(handIn)) });
  if (typeof saved !== 'string' || Number.isNaN(Date.parse(saved))) return damaged('gotNoTime');
  try {
    const ownResults = readResults(results);
    const foreignKey = Object.keys(ownResults).find((key) => !key.startsWith(keyOf(chapterId, '')));
    if (foreignKey !== undefined) return damaged('gotOthers', { key: foreignKey, chapter: chapterId });
    if (Object.keys(ownResults).length === 0) return damaged('gotNoResults');
    const student = { chapter: chapterId, name: name.trim().slice(0, MAX_NAME_LENGTH) };
    return { file: visible(file), ...student, handIn, saved, results: ownResults };
  } catch (error) {
    if (error instanceof ExerciseError) return damagedFile(file, error.reason);
    throw error;
  }
}

/** Problem of a file whose content is not valid. `got` describes the content. */
export function damagedFile(file: string, got: LearnMessage): FileProblem {
  return { word: 'damaged', values: { file: visible(file), got } };
}

export function isClassFile(result: ClassFile | FileProblem): result is ClassFile {
  return 'results' in result;
}

/**
 * Merges new files into the existing ones. For each name and chapter the newest file counts, by the student's count of
 * hand-ins, because a clock may be wrong. With equal counts the file that was opened later counts. A file with the same
 * results is skipped. Both cases, skipped and replaced, are returned as problems.
 */
export function mergeFiles(
  existing: readonly ClassFile[],
  added: readonly ClassFile[],
): { readonly files: readonly ClassFile[]; readonly problems: readonly FileProblem[] } {
  const files = [...existing];
  const problems: FileProblem[] = [];
  for (const file of added) {
    const index = files.findIndex((other) => isSamePerson(other.name, file.name) && other.chapter === file.chapter);
    const other = files[index];
    if (!other) {
      files.push(file);
      continue;
    }
    const values = { file: file.file, other: other.file, name: visible(file.name), chapter: file.chapter };
    if (checksumOf(other.results) === checksumOf(file.results)) {
      problems.push({ word: 'duplicate', values });
      continue;
    }
    problems.push({ word: 'again', values });
    if (file.handIn >= other.handIn) files[index] = file;
  }
  return { files, problems };
}

/** Whether two names are one person's: they differ at most in blanks and capitals. */
function isSamePerson(a: string, b: string): boolean {
  const plain = (name: string) => name.normalize('NFKC').trim().toLowerCase().replaceAll(/\s+/g, ' ');
  return plain(a) === plain(b);
}

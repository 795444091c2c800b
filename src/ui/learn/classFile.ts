import { isCount, isRecord } from '../../base/jsonRecord.ts';
import { visible } from '../../base/visible.ts';
import { checksumOf } from '../../base/checksum.ts';
import { chapterNamed, type ChapterId } from './chapters.ts';
import { keyOf, readResults, type Results } from './exerciseResult.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';

/** What a file of results says it is. */
export const SCHEMA = 'rollout-playground/chapter-results';
const VERSION = 1;
const LONGEST_NAME = 60;

/** What came of a chapter at one student's page. */
export interface HandedIn {
  readonly chapter: ChapterId;
  readonly name: string;
  readonly handIn: number; // the student's browser counts its files from 1; 0: an older page, which did not count
  readonly saved: string; // ISO 8601, by the student's clock
  readonly results: Results; // of that chapter's exercises
}

/** A file that was taken, by its own name. */
export interface ClassFile extends HandedIn {
  readonly file: string;
}

/** Why a file was not taken, or what is to know of it. */
export interface FileProblem extends Required<LearnMessage> {
  readonly word: 'damaged' | 'foreign' | 'newer' | 'duplicate' | 'again';
}

/** Results as the text of a file. */
export function classFileText({ chapter, name, handIn, saved, results }: HandedIn): string {
  return `${JSON.stringify({ schema: SCHEMA, version: VERSION, chapter, name, handIn, saved, results }, null, 2)}\n`;
}

/** Reads a file of results; what is wrong with one that is none stands in its place. */
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
  if (version !== VERSION) {
    return { word: 'newer', values: { file: visible(file), got: visible(String(version)), want: String(VERSION) } };
  }
  const known = typeof chapter === 'string' ? chapterNamed(chapter)?.id : undefined;
  if (!known) return damaged('gotChapter', { chapter: visible(String(chapter)) });
  if (typeof name !== 'string' || name.trim() === '') return damaged('gotNoName');
  if (!isCount(handIn)) return damaged('gotNoCount', { count: visible(JSON.stringify(handIn)) });
  if (typeof saved !== 'string' || Number.isNaN(Date.parse(saved))) return damaged('gotNoTime');
  try {
    const read = readResults(results);
    const odd = Object.keys(read).find((key) => !key.startsWith(keyOf(known, '')));
    if (odd !== undefined) return damaged('gotOthers', { key: odd, chapter: known });
    if (Object.keys(read).length === 0) return damaged('gotNoResults');
    const by = { chapter: known, name: name.trim().slice(0, LONGEST_NAME) };
    return { file: visible(file), ...by, handIn, saved, results: read };
  } catch (error) {
    if (error instanceof ExerciseError) return damagedFile(file, error.said);
    throw error;
  }
}

/** A file that holds no results as the page saves them, and what it holds. */
export function damagedFile(file: string, got: LearnMessage): FileProblem {
  return { word: 'damaged', values: { file: visible(file), got } };
}

/** A file of results, and not what is wrong with one. */
export function isClassFile(read: ClassFile | FileProblem): read is ClassFile {
  return 'results' in read;
}

/**
 * Merges files into those that are there. Of one name and chapter the newest counts, by the student's own count of hand-ins: a clock may be
 * wrong. Where the counts are equal, the file that was opened later counts. The same results twice are left out, other ones are told.
 */
export function mergeFiles(
  there: readonly ClassFile[],
  more: readonly ClassFile[],
): { readonly files: readonly ClassFile[]; readonly problems: readonly FileProblem[] } {
  const files = [...there];
  const problems: FileProblem[] = [];
  for (const file of more) {
    const at = files.findIndex((other) => isSame(other.name, file.name) && other.chapter === file.chapter);
    const other = files[at];
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
    if (file.handIn >= other.handIn) files[at] = file;
  }
  return { files, problems };
}

/** Names are one person's where they differ in blanks and capitals alone. */
function isSame(a: string, b: string): boolean {
  const plain = (name: string) => name.normalize('NFKC').trim().toLowerCase().replaceAll(/\s+/g, ' ');
  return plain(a) === plain(b);
}

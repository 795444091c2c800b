import { csvText } from '../../base/csv.ts';
import { CHAPTERS, type ChapterId } from './chapters.ts';
import type { ClassFile } from './classFile.ts';
import { type Exercise, type Verdict, verdictOf } from './exercise.ts';
import { keyOf, type Result } from './exerciseResult.ts';

/** A column of the class table: an exercise that at least one student has done. */
export interface Column {
  readonly chapter: ChapterId;
  readonly exercise: Exercise;
  readonly key: string;
}

export interface StudentResults {
  readonly name: string;
  readonly results: Readonly<Record<string, Result>>;
}

/** The class table: one line per name, sorted by name, and one column per exercise, in the order of the chapters. */
export function classTable(files: readonly ClassFile[]): {
  readonly columns: readonly Column[];
  readonly students: readonly StudentResults[];
} {
  const byName = new Map<string, StudentResults>();
  for (const { name, results } of files) {
    const id = name.toLowerCase();
    const line = byName.get(id) ?? { name, results: {} };
    byName.set(id, { ...line, results: { ...line.results, ...results } });
  }
  const students = [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  const columns = CHAPTERS.flatMap(({ id, exercises }) =>
    exercises.map((exercise) => ({ chapter: id, exercise, key: keyOf(id, exercise.id) })),
  ).filter(({ key }) => students.some(({ results }) => results[key]));
  return { columns, students };
}

export function countsOf(students: readonly StudentResults[], key: string): Readonly<Record<Verdict, number>> {
  const counts = { right: 0, wrong: 0, unclear: 0 };
  for (const { results } of students) {
    const result = results[key];
    if (result) counts[verdictOf(result)]++;
  }
  return counts;
}

/** The table as CSV: one line per name and exercise, with unrounded numbers. */
export function classCsv(files: readonly ClassFile[]): string {
  const { columns, students } = classTable(files);
  const head = [
    'name',
    'chapter',
    'exercise',
    'predicted',
    'answer',
    'verdict',
    'number',
    'value',
    'seed',
    'backend',
    'tries',
    'at',
  ];
  const cells = students.flatMap(({ name, results }) =>
    columns.flatMap(({ chapter, exercise, key }) => {
      const result = results[key];
      if (!result) return [];
      const { predicted, answer, numbers, seed, backend, tries, at } = result;
      const { id, headlineNumber } = exercise;
      const value = numbers[headlineNumber] ?? '';
      return [
        [
          name,
          chapter,
          id,
          predicted,
          answer ?? '',
          verdictOf(result),
          headlineNumber,
          value,
          seed,
          backend,
          tries,
          at,
        ],
      ];
    }),
  );
  return csvText([head, ...cells]);
}

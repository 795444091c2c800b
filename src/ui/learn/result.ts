import { exerciseNamed } from './chapters.ts';
import { verdictOf, type Finding, type Verdict } from './exercise.ts';

/** What came of an exercise. */
export interface Result {
  readonly predicted: string;
  readonly answer: string | null; // of the numbers; null: they cannot tell
  readonly numbers: Finding['numbers'];
  readonly tries: number; // how often it was done
  readonly seed: number;
  readonly backend: string; // cpu or gpu; recording where nothing was trained
  readonly at: string; // ISO 8601
}

/** Results by `CHAPTER/EXERCISE`. */
export type Results = Readonly<Record<string, Result>>;

const MOST_NUMBERS = 20;
const BACKENDS = ['cpu', 'gpu', 'recording'];

/** The name of an exercise among results. */
export const keyOf = (chapter: string, exercise: string) => `${chapter}/${exercise}`;

/** Whether a result's prediction came true; null without a result. */
export function verdictIn(results: Results, chapter: string, exercise: string): Verdict | null {
  const result = results[keyOf(chapter, exercise)];
  return result ? verdictOf(result) : null;
}

/** Reads results from a file or from storage. Throws RangeError on what is none: what was got, and what is wanted. */
export function readResults(value: unknown): Results {
  if (!isFields(value)) throw new RangeError(`results: got ${kindOf(value)}, want an object of results by exercise.`);
  return Object.fromEntries(Object.entries(value).map(([key, result]) => [key, readResult(key, result)]));
}

function readResult(key: string, value: unknown): Result {
  const [chapter = '', id = ''] = key.split('/');
  const exercise = exerciseNamed(chapter, id);
  const wrong = (part: string, got: unknown, want: string) =>
    new RangeError(`${key.slice(0, 60)}: ${part}: got ${kindOf(got)}, want ${want}.`);
  if (!exercise || keyOf(chapter, id) !== key)
    throw new RangeError(`got a result of ${key.slice(0, 60)}, want exercises of this page.`);
  if (!isFields(value)) throw wrong('result', value, 'its fields');
  const { predicted, answer, numbers, tries, seed, backend, at } = value;
  const isChoice = (text: unknown): text is string => typeof text === 'string' && exercise.choices.includes(text);
  if (!isChoice(predicted)) throw wrong('predicted', predicted, `one of ${exercise.choices.join(', ')}`);
  if (answer !== null && !isChoice(answer))
    throw wrong('answer', answer, `null or one of ${exercise.choices.join(', ')}`);
  if (!isNumbers(numbers)) throw wrong('numbers', numbers, 'finite numbers by name');
  if (!isCount(tries)) throw wrong('tries', tries, 'a whole number from 0');
  if (!isCount(seed)) throw wrong('seed', seed, 'a whole number from 0');
  if (typeof backend !== 'string' || !BACKENDS.includes(backend))
    throw wrong('backend', backend, `one of ${BACKENDS.join(', ')}`);
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) throw wrong('at', at, 'a time as ISO 8601 has it');
  return { predicted, answer, numbers, tries, seed, backend, at };
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isNumbers(value: unknown): value is Readonly<Record<string, number>> {
  return (
    isFields(value) &&
    Object.keys(value).length <= MOST_NUMBERS &&
    Object.values(value).every((n) => Number.isFinite(n))
  );
}

/** A value as an error names it: short, without what it holds. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || Array.isArray(value)) return value === null ? 'null' : 'a list';
  if (typeof value === 'object') return 'fields';
  return JSON.stringify(value).slice(0, 40);
}

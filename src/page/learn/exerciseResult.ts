import { isCount, isRecord } from '../../base/jsonRecord.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';
import { exerciseNamed } from './chapters.ts';
import { verdictOf, type Finding, type Verdict } from './exercise.ts';

export interface Result {
  readonly predicted: string;
  readonly answer: string | null; // what the numbers show; null: unclear
  readonly numbers: Finding['numbers'];
  readonly tries: number; // how often the exercise was done
  readonly seed: number;
  readonly backend: string; // cpu or gpu; recording if nothing was trained
  readonly at: string; // ISO 8601
}

/** Results by `CHAPTER/EXERCISE`. */
export type Results = Readonly<Record<string, Result>>;

const MAX_NUMBERS = 20;
const MAX_QUOTED_KEY = 60; // characters of a key quoted in a message
const BACKENDS = ['cpu', 'gpu', 'recording'];

export const keyOf = (chapter: string, exercise: string) => `${chapter}/${exercise}`;

export function verdictIn(results: Results, chapter: string, exercise: string): Verdict | null {
  const result = results[keyOf(chapter, exercise)];
  return result ? verdictOf(result) : null;
}

/** Throws `ExerciseError` if they are not valid, with what was found and expected. */
export function readResults(value: unknown): Results {
  if (!isRecord(value)) throw unexpectedValue('results', value, { word: 'wantResults' });
  return Object.fromEntries(Object.entries(value).map(([key, result]) => [key, readResult(key, result)]));
}

function readResult(key: string, value: unknown): Result {
  const [chapter = '', id = ''] = key.split('/');
  const exercise = exerciseNamed(chapter, id);
  const quotedKey = key.slice(0, MAX_QUOTED_KEY);
  if (!exercise || keyOf(chapter, id) !== key)
    throw new ExerciseError({ word: 'gotUnknown', values: { key: quotedKey } });
  if (!isRecord(value)) throw unexpectedValue(quotedKey, value, { word: 'wantFields' });
  const { predicted, answer, numbers, tries, seed, backend, at } = value;
  const isChoice = (text: unknown): text is string => typeof text === 'string' && exercise.choices.includes(text);
  const fieldError = (name: string, got: unknown, want: LearnMessage) =>
    unexpectedValue(`${quotedKey}: ${name}`, got, want);
  const oneOf = (choices: readonly string[]) => ({ choices: choices.join(', ') });
  if (!isChoice(predicted))
    throw fieldError('predicted', predicted, { word: 'wantOneOf', values: oneOf(exercise.choices) });
  if (answer !== null && !isChoice(answer))
    throw fieldError('answer', answer, { word: 'wantNullOr', values: oneOf(exercise.choices) });
  if (!isNumbers(numbers)) throw fieldError('numbers', numbers, { word: 'wantNumbers' });
  if (!isCount(tries)) throw fieldError('tries', tries, { word: 'wantCount' });
  if (!isCount(seed)) throw fieldError('seed', seed, { word: 'wantCount' });
  if (typeof backend !== 'string' || !BACKENDS.includes(backend))
    throw fieldError('backend', backend, { word: 'wantOneOf', values: oneOf(BACKENDS) });
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) throw fieldError('at', at, { word: 'wantTime' });
  return { predicted, answer, numbers, tries, seed, backend, at };
}

function isNumbers(value: unknown): value is Readonly<Record<string, number>> {
  return (
    isRecord(value) && Object.keys(value).length <= MAX_NUMBERS && Object.values(value).every((n) => Number.isFinite(n))
  );
}

function unexpectedValue(part: string, got: unknown, want: LearnMessage): ExerciseError {
  return new ExerciseError({ word: 'gotPart', values: { part, got: descriptionOf(got), want } });
}

function descriptionOf(value: unknown): LearnMessage | string {
  if (value === undefined) return { word: 'nothing' };
  if (value === null) return 'null';
  if (typeof value === 'object') return { word: Array.isArray(value) ? 'aList' : 'someFields' };
  return JSON.stringify(value).slice(0, 40);
}

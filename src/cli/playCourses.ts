import type { RunConfig } from '../config/config.ts';
import type { PlayedBatch } from '../domain/batch.ts';
import { distinctSeeds } from '../rl/evaluatedTasks.ts';
import type { Course } from '../runs/recordedPlays.ts';
import type { Session } from '../session/session.ts';
import { playQuestion } from '../wire/playQuestion.ts';

/** Tasks that are tried, and updates after which they are played, the first ones closer together. In text a play takes a second. */
const TRIED = { words: { tasks: 24, updates: 20 }, text: { tasks: 8, updates: 8 } } as const;
const CROWDED = 1.6; // the power that brings early updates together: that is where a run learns most

/** Updates of a run after which its tasks are played: 0, which is before training, up to the last. */
function playedUpdates({ updates, language }: Pick<RunConfig, 'updates' | 'language'>): ReadonlySet<number> {
  const { updates: count } = TRIED[language];
  const share = (k: number) => (k / (count - 1)) ** CROWDED;
  return new Set(Array.from({ length: count }, (_, k) => Math.round(updates * share(k))));
}

/** Plays the same tasks with the same draws again and again while a run trains; the run hears nothing of it. */
export class PlayCourses {
  readonly #session: Session;
  readonly #config: RunConfig;
  readonly #updates: ReadonlySet<number>;
  readonly #seeds: readonly number[];
  readonly #courses: [number, PlayedBatch][][];

  /** Draws the tasks of a run that has just been opened. */
  constructor(session: Session) {
    const config = session.config();
    const { tasks } = TRIED[config.language];
    this.#session = session;
    this.#config = config;
    this.#updates = playedUpdates(config);
    this.#seeds = distinctSeeds(session.env, session.env.reset, { ...config, evalTasks: tasks }).slice(0, tasks);
    this.#courses = this.#seeds.map(() => []);
  }

  /** Plays all tasks by the weights after `update`, where it is one of those that are played. */
  async follow(update: number): Promise<void> {
    if (!this.#updates.has(update)) return;
    for (const [i, seed] of this.#seeds.entries()) {
      const answer = await this.#session.answer(playQuestion(seed, this.#config));
      if (answer.kind !== 'talk') throw new Error(`record: task ${seed} was answered by ${answer.kind}.`);
      const { rows, length, tokens, roles, turns, lengths, episodes } = answer.said;
      this.#courses[i]?.push([update, { rows, length, tokens, roles, turns, lengths, episodes }]);
    }
  }

  /** Of every task its plays so far. */
  get courses(): readonly Course[] {
    return this.#courses;
  }
}

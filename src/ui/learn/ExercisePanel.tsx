import { useEffect, useRef, useState } from 'react';
import { useConfig } from '../../page/knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import type { ChapterId } from '../../page/learn/chapters.ts';
import { CopyLink } from './CopyLink.tsx';
import { doExercise, predict, stopExercise, useExerciseRun } from '../../page/learn/exerciseRun.ts';
import { type Demonstration, type Exercise, verdictOf } from '../../page/learn/exercise.ts';
import { HandInLink } from './HandIn.tsx';
import { learnHash } from '../../page/learn/learnAddress.ts';
import { useProgress } from '../../page/learn/chapterProgress.ts';
import { keyOf, type Result } from '../../page/learn/exerciseResult.ts';
import type { ExerciseText } from '../../page/learn/shape.ts';
import { fill } from '../../page/learn/fill.ts';
import { exerciseText, say } from '../../page/learn/catalogue.ts';

interface Props {
  readonly chapter: ChapterId;
  readonly exercise: Exercise;
  readonly n: number; // from 1
  readonly isLinked: boolean; // the address points at this exercise
  readonly coveredResult?: Result | undefined; // a result to hide until it is uncovered
  readonly uncover?: () => void;
}

export function ExercisePanel({ chapter, exercise, n, isLinked, coveredResult, uncover }: Props) {
  const words = exerciseText(chapter, exercise.id);
  const key = keyOf(chapter, exercise.id);
  const result = useProgress((s) => s.results[key]);
  const running = useExerciseRun((s) => s.running && s.key === key);
  const failed = useExerciseRun((s) => s.key === key && s.failure !== null);
  // the result that is being replaced: the exercise is done again
  const [replacing, setReplacing] = useState<Result | null>(null);
  const isCovered = result !== undefined && result === coveredResult;
  const asksPrediction = !result || result === replacing || isCovered;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isLinked) panel.current?.scrollIntoView({ block: 'start' });
  }, [isLinked]);
  return (
    <section
      ref={panel}
      className="stack card exercise"
      aria-label={say('exercise', { n })}
      data-testid={`exercise-${exercise.id}`}
      data-asked={isLinked}
      data-verdict={asksPrediction ? undefined : verdictOf(result)}
    >
      <div className="row between">
        <h4 className="faint">{say('exercise', { n })}</h4>
        {isLinked && <span className="chip here">{say('linked')}</span>}
        <CopyLink hash={learnHash(chapter, exercise.id)} label={say('exerciseLink', { n })} />
      </div>
      <p className="strong">{words.question}</p>
      {running ? (
        <RunProgress exercise={exercise} />
      ) : asksPrediction ? (
        <Prediction {...{ chapter, exercise, words }} />
      ) : (
        <Outcome result={result} words={words} repeat={() => setReplacing(result)} />
      )}
      {isCovered && !running && (
        <button type="button" className="quiet small" onClick={uncover}>
          {say('uncover')}
        </button>
      )}
      {failed && <Failure />}
    </section>
  );
}

interface PredictionProps {
  readonly chapter: ChapterId;
  readonly exercise: Exercise;
  readonly words: ExerciseText;
}

function Prediction({ chapter, exercise, words }: PredictionProps) {
  const key = keyOf(chapter, exercise.id);
  const predicted = useExerciseRun((s) => s.predictions[key]);
  const busy = useExerciseRun((s) => s.running);
  const seed = useConfig((s) => s.wanted.seed);
  const { arms } = exercise;
  return (
    <>
      <fieldset className="stack choices">
        <legend className="faint">{say('predict')}</legend>
        {exercise.choices.map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === predicted}
            onClick={() => predict(key, choice === predicted ? null : choice)}
          >
            {words.choices[choice]}
          </button>
        ))}
      </fieldset>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={predicted === undefined || busy}
          onClick={() => predicted !== undefined && void doExercise(chapter, exercise, predicted)}
        >
          <Icon name="play" /> {words.task}
        </button>
        <span className="small faint">
          {predicted === undefined
            ? say('predictFirst')
            : arms[0]
              ? say('trains', { runs: arms.length, updates: arms[0].updates, seed: String(arms[0].set.seed ?? seed) })
              : exercise.recordedUpdate
                ? say('reads', { update: exercise.recordedUpdate.update })
                : say('readsShipped')}
        </span>
      </div>
    </>
  );
}

export function RunProgress({ exercise: { arms } }: { readonly exercise: Demonstration }) {
  const progress = useExerciseRun((s) => s.progress);
  const updates = arms[progress?.arm ?? 0]?.updates ?? 1;
  const all = arms.reduce((sum, arm) => sum + arm.updates, 0);
  const finishedUpdates = arms.slice(0, progress?.arm ?? 0).reduce((sum, arm) => sum + arm.updates, 0);
  return (
    <div className="row" role="status">
      <progress value={finishedUpdates + (progress?.update ?? 0)} max={Math.max(1, all)} aria-label={say('chapters')} />
      <span className="small">
        {progress
          ? say('under', { arm: progress.arm + 1, arms: arms.length, update: progress.update, updates })
          : say('starting')}
      </span>
      <button type="button" className="end" onClick={stopExercise}>
        {say('stop')}
      </button>
    </div>
  );
}

interface OutcomeProps {
  readonly result: Result;
  readonly words: ExerciseText;
  readonly repeat: () => void; // lets the reader do the exercise again
}

function Outcome({ result, words, repeat }: OutcomeProps) {
  const { predicted, answer, numbers, tries, seed, backend } = result;
  const verdict = verdictOf(result);
  const choice = (id: string) => words.choices[id] ?? id;
  return (
    <div className="stack note exercise-outcome" role="status" data-verdict={verdict}>
      <p>
        <b className="line">
          <Icon name={verdict === 'right' ? 'check' : verdict === 'wrong' ? 'cross' : 'minus'} /> {say(verdict)}
        </b>
        {say('predicted', { choice: choice(predicted) })}{' '}
        {answer !== null && answer !== predicted && say('answer', { choice: choice(answer) })}
      </p>
      <p className="strong">{fill(answer === null ? words.cannot : words.seen, numbers)}</p>
      {answer !== null && <p>{words.why}</p>}
      <div className="row between">
        <span className="small faint">{say('tries', { n: tries, seed: String(seed), backend })}</span>
        <span className="line">
          <HandInLink />
          <button type="button" className="quiet small" onClick={repeat}>
            {say('once')}
          </button>
        </span>
      </div>
    </div>
  );
}

export function Failure() {
  const failed = useExerciseRun((s) => s.failure);
  const why = useExerciseRun((s) => s.failureReason);
  return (
    <p className="note bad" role="alert">
      {failed === 'interrupted' || !why ? say('interrupted') : say('failed', { why })}
    </p>
  );
}

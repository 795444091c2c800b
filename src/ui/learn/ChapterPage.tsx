import { lazy, Suspense, useEffect } from 'react';
import { typeset } from '../formula/typeset.tsx';
import { play, useReplay } from '../replay/player.ts';
import { beginTour } from '../tour/begin.ts';
import { returnLab, keepExerciseRun, useTakenLab } from './swapLab.ts';
import { CHAPTERS, chapterNamed, type ChapterId } from './chapters.ts';
import { CopyLink } from './CopyLink.tsx';
import { useExerciseRun } from './exerciseRun.ts';
import { ExercisePanel } from './ExercisePanel.tsx';
import { HandIn } from './HandIn.tsx';
import { learnHash } from './learnPlace.ts';
import { standAt } from './recordedUpdateView.ts';
import type { Exercise } from './exercise.ts';
import { useSay, useTexts } from './useTexts.ts';

const Presenter = lazy(() => import('./Presenter.tsx').then((m) => ({ default: m.Presenter })));

interface Props {
  readonly chapter: ChapterId;
  readonly exercise: string | null; // that the address points at
  readonly presented: boolean;
  readonly present: (presented: boolean) => void;
}

/** A chapter: its text and formulas, its exercises, and what can be made of it. */
export function ChapterPage({ chapter, exercise, presented, present }: Props) {
  const { language, chapters } = useTexts();
  const say = useSay();
  const { title, text, formulas } = chapters[chapter];
  const found = chapterNamed(chapter);
  useStanding(found?.exercises ?? []);
  const next = CHAPTERS[CHAPTERS.findIndex(({ id }) => id === chapter) + 1];
  if (!found) return null;
  return (
    <article className="stack large chapter" aria-labelledby="chapter-title" data-testid="chapter">
      <div className="row between">
        <h3 id="chapter-title">{title}</h3>
        <CopyLink hash={learnHash(language, chapter)} label={say('link')} />
      </div>
      {text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {formulas.map((formula) => (
        <p key={formula} className="quote mono chapter-formula">
          {typeset(formula)}
        </p>
      ))}
      <p className="small faint">{found.source}</p>
      {chapter === CHAPTERS[0].id && <Story />}
      <Borrowed />
      {found.exercises.map((each, i) => (
        <ExercisePanel key={each.id} chapter={chapter} exercise={each} n={i + 1} asked={each.id === exercise} />
      ))}
      <div className="row chapter-actions">
        {next && <a href={learnHash(language, next.id)}>{say('nextChapter')}</a>}
        <button type="button" className="quiet end" onClick={() => present(true)}>
          {say('present')}
        </button>
        <button type="button" className="quiet" onClick={() => print()}>
          {say('print')}
        </button>
      </div>
      <HandIn chapter={chapter} />
      <Suspense>{presented && <Presenter chapter={chapter} close={() => present(false)} />}</Suspense>
    </article>
  );
}

/** The first chapter leads through cause and effect in the lab: the stops of the tour. */
function Story() {
  const say = useSay();
  return (
    <section className="stack card" aria-labelledby="story-title">
      <h4 id="story-title">{say('story')}</h4>
      <p>{say('storyText')}</p>
      <button type="button" className="story-start" onClick={beginTour}>
        {say('storyStart')}
      </button>
    </section>
  );
}

/** Has the recording stand still at the update that an exercise is about, so that what is asked can be looked at; it plays on when the chapter is left. */
function useStanding(exercises: readonly Exercise[]): void {
  const recording = useReplay((s) => s.recording);
  useEffect(() => {
    const reads = exercises.find((exercise) => exercise.reads)?.reads;
    const { playing } = useReplay.getState();
    if (!reads || !recording || !standAt(reads)) return;
    return () => {
      if (playing && !useReplay.getState().over) play();
    };
  }, [exercises, recording]);
}

/** What became of the reader's lab, while an exercise has it. */
function Borrowed() {
  const say = useSay();
  const borrowed = useTakenLab((s) => s.lab !== null);
  const running = useExerciseRun((s) => s.running);
  if (!borrowed) return null;
  return (
    <div className="stack small quote borrowed" role="status">
      <p>{say('borrowed')}</p>
      <div className="row">
        <button type="button" className="small" disabled={running} onClick={() => void returnLab()}>
          {say('giveBack')}
        </button>
        <button type="button" className="quiet small" disabled={running} onClick={keepExerciseRun}>
          {say('keep')}
        </button>
      </div>
    </div>
  );
}

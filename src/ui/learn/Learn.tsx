import { lazy, Suspense, useEffect, useState } from 'react';
import { useSubpath } from '../../page/address/route.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { Header } from '../frame/Header.tsx';
import { useTitleParts } from '../../page/view/pageTitle.ts';
import { StatusLine } from '../frame/StatusLine.tsx';
import { beginTour } from '../../page/learn/offer.ts';
import { CHAPTERS, chapterNamed, type ChapterId } from '../../page/learn/chapters.ts';
import { leaveChapter } from '../../page/learn/exerciseRun.ts';
import { minutesOf } from '../../page/learn/minutes.ts';
import { CLASS_VIEW, learnHash, readLearnAddress } from '../../page/learn/learnAddress.ts';
import { saveProgress, deleteResults, useProgress } from '../../page/learn/chapterProgress.ts';
import { verdictIn } from '../../page/learn/exerciseResult.ts';
import { typeset } from '../parts/typeset.tsx';
import { play, useReplay } from '../../page/view/player.ts';
import { CopyLink } from './CopyLink.tsx';
import { ExercisePanel } from './ExercisePanel.tsx';
import { HandIn } from './HandIn.tsx';
import { LabBeside, LabReturn } from './LabBeside.tsx';
import { pauseRecordingAt } from '../../page/learn/recordedUpdateView.ts';
import type { Exercise } from '../../page/learn/exercise.ts';
import { say } from '../../page/learn/catalogue.ts';
import { CHAPTER_TEXTS } from '../../page/learn/chapterTexts.ts';
import './learn.css';
import './print.css';

const ClassView = lazy(() => import('./ClassView.tsx').then((m) => ({ default: m.ClassView })));

export function Learn() {
  const learnAddress = readLearnAddress(useSubpath());
  const lastChapter = useProgress((s) => s.last);
  const shown = learnAddress.chapter ?? chapterNamed(lastChapter)?.id ?? CHAPTERS[0].id;
  const [isPresenting, setPresented] = useState(false); // true: the presentation shows the lab
  useTitleParts({ shown: shown === CLASS_VIEW ? say('classView') : CHAPTER_TEXTS[shown].title });
  const correctionText = learnAddress.correctionMessages.join('\n');
  useEffect(() => {
    if (correctionText !== '')
      useConfig.setState((s) => ({ corrections: [...s.corrections, ...correctionText.split('\n')] }));
  }, [correctionText]);
  const isCompleteAddress = learnAddress.chapter !== null;
  useEffect(() => {
    // replace an incomplete address with the full address of what is shown
    if (!isCompleteAddress) location.replace(learnHash(shown, learnAddress.exercise ?? undefined));
  }, [isCompleteAddress, shown, learnAddress.exercise]);
  useEffect(() => {
    if (shown !== CLASS_VIEW) saveProgress({ last: shown });
    return leaveChapter;
  }, [shown]);
  return (
    <>
      <Header />
      {shown === CLASS_VIEW ? (
        <main className="learn class pane" data-pane="watch">
          <Suspense>
            <ClassView />
          </Suspense>
        </main>
      ) : (
        <main className="learn pane" data-pane="watch">
          <Contents shown={shown} />
          <ChapterPage
            key={shown}
            chapter={shown}
            exercise={learnAddress.exercise}
            isPresenting={isPresenting}
            setPresenting={setPresented}
          />
        </main>
      )}
      {shown !== CLASS_VIEW && !isPresenting && <LabBeside />}
      <StatusLine />
    </>
  );
}

function Contents({ shown }: { readonly shown: ChapterId }) {
  const minutes = CHAPTERS.reduce((sum, { id }) => sum + minutesOf(id), 0);
  const results = useProgress((s) => s.results);
  const verdicts = CHAPTERS.flatMap(({ id, exercises }) => exercises.map((each) => verdictIn(results, id, each.id)));
  const done = verdicts.filter((verdict) => verdict !== null).length;
  const right = verdicts.filter((verdict) => verdict === 'right').length;
  return (
    <>
      <div className="row between learn-head">
        <h2>{say('learn')}</h2>
        <span className="row">
          <a className="small" href={learnHash(CLASS_VIEW)}>
            {say('classView')}
          </a>
          <button type="button" className="quiet small" onClick={beginTour}>
            {say('tour')}
          </button>
        </span>
      </div>
      <nav aria-label={say('chapters')}>
        <ol className="chapters grid gap-2">
          {CHAPTERS.map(({ id, exercises }) => {
            const finished = exercises.filter((each) => verdictIn(results, id, each.id) !== null).length;
            return (
              <li key={id}>
                <a href={learnHash(id)} aria-current={id === shown ? 'step' : undefined}>
                  <span className="cut">{CHAPTER_TEXTS[id].title}</span>
                  <span className="small faint end one-line">{say('minutes', { n: minutesOf(id) })}</span>
                  {finished > 0 && (
                    <span data-done={finished === exercises.length}>
                      <span aria-hidden="true">{finished === exercises.length ? '✓' : '…'}</span>
                      <span className="visually-hidden">
                        {finished === exercises.length
                          ? say('chapterDone')
                          : say('chapterBegun', { done: finished, all: exercises.length })}
                      </span>
                    </span>
                  )}
                </a>
              </li>
            );
          })}
        </ol>
      </nav>
      <p className="row small faint learn-progress">
        <span data-testid="progress">{say('progress', { done, all: verdicts.length, right })}</span>
        <span>{say('allMinutes', { chapters: CHAPTERS.length, n: 5 * Math.round(minutes / 5) })}</span>
        {done > 0 && (
          <button type="button" className="quiet small" onClick={deleteResults}>
            {say('startOver')}
          </button>
        )}
      </p>
    </>
  );
}

const Presenter = lazy(() => import('./Presenter.tsx').then((m) => ({ default: m.Presenter })));

interface Props {
  readonly chapter: ChapterId;
  readonly exercise: string | null; // id of the exercise that the address points at
  readonly isPresenting: boolean;
  readonly setPresenting: (presented: boolean) => void;
}

function ChapterPage({ chapter, exercise, isPresenting, setPresenting }: Props) {
  const { title, text, formulas } = CHAPTER_TEXTS[chapter];
  const chapterEntry = chapterNamed(chapter);
  usePausedRecording(chapterEntry?.exercises ?? []);
  const next = CHAPTERS[CHAPTERS.findIndex(({ id }) => id === chapter) + 1];
  if (!chapterEntry) return null;
  return (
    <article className="stack large chapter" aria-labelledby="chapter-title" data-testid="chapter">
      <div className="row between">
        <h3 id="chapter-title">{title}</h3>
        <CopyLink hash={learnHash(chapter)} label={say('link')} />
      </div>
      {text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {formulas.map((formula) => (
        <p key={formula} className="quote mono chapter-formula" translate="no">
          {typeset(formula)}
        </p>
      ))}
      <p className="small faint">{chapterEntry.source}</p>
      {chapter === CHAPTERS[0].id && <TourOffer />}
      <LabReturn />
      {chapterEntry.exercises.map((each, i) => (
        <ExercisePanel key={each.id} chapter={chapter} exercise={each} n={i + 1} isLinked={each.id === exercise} />
      ))}
      <div className="row chapter-actions">
        {next && <a href={learnHash(next.id)}>{say('nextChapter')}</a>}
        <button type="button" className="quiet end" onClick={() => setPresenting(true)}>
          {say('present')}
        </button>
        <button type="button" className="quiet" onClick={() => print()}>
          {say('print')}
        </button>
      </div>
      <HandIn chapter={chapter} />
      <Suspense>{isPresenting && <Presenter chapter={chapter} close={() => setPresenting(false)} />}</Suspense>
    </article>
  );
}

function TourOffer() {
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

/** Pauses the recording at the update that an exercise asks about. It plays on when the chapter is left. */
function usePausedRecording(exercises: readonly Exercise[]): void {
  const recording = useReplay((s) => s.recording);
  useEffect(() => {
    const recordedUpdate = exercises.find((exercise) => exercise.recordedUpdate)?.recordedUpdate;
    const { playing } = useReplay.getState();
    if (!recordedUpdate || !recording || !pauseRecordingAt(recordedUpdate)) return;
    return () => {
      if (playing && !useReplay.getState().trainingBegan) play();
    };
  }, [exercises, recording]);
}

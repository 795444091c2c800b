import { useSubpath } from '../address/route.ts';
import { CHAPTERS, chapterNamed, exerciseNamed } from '../learn/chapters.ts';
import type { Exercise } from '../learn/exercise.ts';
import { ExercisePanel } from '../learn/ExercisePanel.tsx';
import { CLASS_VIEW, readLearnAddress } from '../learn/learnAddress.ts';
import { useProgress } from '../learn/chapterProgress.ts';
import { TextsContext, useLoadedTexts } from '../learn/useTexts.ts';
import '../styles/learn.css';

/** The exercise that the address names, or the first of its chapter. */
export function EmbeddedExercise() {
  const place = readLearnAddress(useSubpath());
  const storedLanguage = useProgress((s) => s.language);
  const texts = useLoadedTexts(place.language ?? storedLanguage);
  const chapter = chapterNamed(place.chapter === CLASS_VIEW ? '' : (place.chapter ?? '')) ?? CHAPTERS[0];
  const exercise: Exercise =
    (place.exercise === null ? undefined : exerciseNamed(chapter.id, place.exercise)) ?? chapter.exercises[0];
  if (!texts) return <div aria-busy="true" />;
  const n = chapter.exercises.findIndex(({ id }) => id === exercise.id) + 1;
  return (
    <TextsContext value={texts}>
      <div lang={texts.language}>
        <ExercisePanel chapter={chapter.id} exercise={exercise} n={n} isLinked={false} />
      </div>
    </TextsContext>
  );
}

import { useSubpath } from '../../page/address/route.ts';
import { CHAPTERS, chapterNamed, exerciseNamed } from '../../page/learn/chapters.ts';
import type { Exercise } from '../../page/learn/exercise.ts';
import { ExercisePanel } from '../learn/ExercisePanel.tsx';
import { CLASS_VIEW, readLearnAddress } from '../../page/learn/learnAddress.ts';
import '../learn/learn.css';

/** The exercise that the address names, or the first of its chapter. */
export function EmbeddedExercise() {
  const place = readLearnAddress(useSubpath());
  const chapter = chapterNamed(place.chapter === CLASS_VIEW ? '' : (place.chapter ?? '')) ?? CHAPTERS[0];
  const exercise: Exercise =
    (place.exercise === null ? undefined : exerciseNamed(chapter.id, place.exercise)) ?? chapter.exercises[0];
  const n = chapter.exercises.findIndex(({ id }) => id === exercise.id) + 1;
  return <ExercisePanel chapter={chapter.id} exercise={exercise} n={n} isLinked={false} />;
}

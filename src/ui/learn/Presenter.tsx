import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { typeset } from '../parts/typeset.tsx';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';
import { chapterNamed, type ChapterId } from '../../page/learn/chapters.ts';
import type { Exercise } from '../../page/learn/exercise.ts';
import { ExercisePanel } from './ExercisePanel.tsx';
import { useProgress } from '../../page/learn/chapterProgress.ts';
import { keyOf } from '../../page/learn/exerciseResult.ts';
import { say } from '../../page/learn/catalogue.ts';
import { CHAPTER_TEXTS } from '../../page/learn/chapterTexts.ts';

interface Props {
  readonly chapter: ChapterId;
  readonly close: () => void;
}

/**
 * Presents a chapter to a class: the lab at the left, and the chapter at the right in large type, one slide at a time.
 * Arrow keys change the slide and Esc closes it. Earlier results are covered, so that the class can predict first.
 */
export function Presenter({ chapter, close }: Props) {
  const [slideIndex, setAt] = useState(0);
  const { covered, uncover } = useCovered(chapter);
  const { title, text, formulas } = CHAPTER_TEXTS[chapter];
  const exercises: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
  const slides: readonly ReactNode[] = [
    ...text.map((paragraph, i) => (
      <div key={paragraph} className="stack">
        {i === 0 && <h3>{title}</h3>}
        <p>{paragraph}</p>
      </div>
    )),
    <div key="formulas" className="stack">
      {formulas.map((formula) => (
        <p key={formula} className="quote mono chapter-formula" translate="no">
          {typeset(formula)}
        </p>
      ))}
    </div>,
    ...exercises.map((exercise, i) => (
      <ExercisePanel
        key={exercise.id}
        {...{ chapter, exercise }}
        n={i + 1}
        isLinked={false}
        coveredResult={covered(exercise.id)}
        uncover={() => uncover(exercise.id)}
      />
    )),
  ];
  const move = (slide: number) => setAt(Math.min(slides.length - 1, Math.max(0, slide)));
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return; // the rollout's tokens have handled an arrow key
    const shown = exercises[slideIndex - (slides.length - exercises.length)];
    if (shown && event.key.toLowerCase() === 'r') uncover(shown.id);
    const target = slideForKey(event.key, slideIndex, slides.length);
    if (target === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(target);
  };
  return (
    <Dialog title={say('presentation', { title })} className="presenter" onClose={close} onKeyDown={onKey}>
      <div className="presenter-body grid gap-6 fill low">
        <div className="presenter-lab grid gap-4 low" data-testid="presenter-lab">
          <EnvPanel />
          <RolloutPanel />
        </div>
        <div className="slide grid low scrolls" data-testid="slide">
          {slides[slideIndex]}
        </div>
      </div>
      <div className="row presenter-foot">
        <button type="button" disabled={slideIndex === 0} onClick={() => move(slideIndex - 1)}>
          <Icon name="left" /> {say('previous')}
        </button>
        <button type="button" disabled={slideIndex === slides.length - 1} onClick={() => move(slideIndex + 1)}>
          {say('next')} <Icon name="right" />
        </button>
        <span role="status">{say('slide', { n: slideIndex + 1, all: slides.length })}</span>
        <span className="faint end">{say('keys')}</span>
      </div>
    </Dialog>
  );
}

/** The slide that a key moves to; null for other keys. May lie out of range. */
function slideForKey(key: string, slideIndex: number, slideCount: number): number | null {
  if (key === 'ArrowRight' || key === 'PageDown') return slideIndex + 1;
  if (key === 'ArrowLeft' || key === 'PageUp') return slideIndex - 1;
  if (key === 'Home') return 0;
  return key === 'End' ? slideCount - 1 : null;
}

/** Covers the results from before the presentation until each is uncovered. */
function useCovered(chapter: ChapterId) {
  const [earlierResults] = useState(() => useProgress.getState().results);
  const [uncovered, setUncovered] = useState<ReadonlySet<string>>(new Set());
  return {
    covered: (id: string) => (uncovered.has(id) ? undefined : earlierResults[keyOf(chapter, id)]),
    uncover: (id: string) => setUncovered((all) => new Set([...all, id])),
  };
}

import { CHAPTERS, chapterNamed, exerciseNamed, type ChapterId } from './chapters.ts';
import { addressExcerpt } from '../address/addressText.ts';

/** The address of the class view, in place of a chapter's id. */
export const CLASS_VIEW = 'class';

/** The part of the address that belongs to Learn: `CHAPTER/EXERCISE` or `class`. */
export interface LearnAddress {
  readonly chapter: ChapterId | typeof CLASS_VIEW | null; // null: the chapter read last
  readonly exercise: string | null;
  readonly correctionMessages: readonly string[]; // messages about parts of the address that don't exist
}

/** Links of before 2026-11-28 name a language first. There is one now. */
const FORMER_LANGUAGE = /^(?:en|de)(?:\/|$)/;

/** Reads an address of Learn and never throws. Unknown parts are left out and reported in a message. */
export function readLearnAddress(place: string): LearnAddress {
  const parts = place.replace(FORMER_LANGUAGE, '').split('/');
  const [chapterName, id, ...extraParts] = parts.filter((part) => part !== '');
  const correctionMessages: string[] = [];
  const chapter =
    chapterName === undefined ? undefined : chapterName === CLASS_VIEW ? CLASS_VIEW : chapterNamed(chapterName)?.id;
  if (chapterName !== undefined && chapter === undefined) {
    const wanted = [...CHAPTERS.map((each) => each.id), CLASS_VIEW].join(', ');
    correctionMessages.push(
      `chapter: ${addressExcerpt(chapterName)} isn’t a chapter. Use one of ${wanted}. Showing the last one read.`,
    );
  }
  const exercise = chapter && id !== undefined && exerciseNamed(chapter, id) ? id : null;
  if (chapter && (extraParts.length > 0 || (id !== undefined && exercise === null))) {
    const wanted =
      chapterNamed(chapter)
        ?.exercises.map((each) => each.id)
        .join(' or ') ?? 'possible here';
    correctionMessages.push(`exercise: ${addressExcerpt([id, ...extraParts].join('/'))} isn’t ${wanted}. Ignored.`);
  }
  return { chapter: chapter ?? null, exercise, correctionMessages };
}

/** The address of a chapter, an exercise or the class view, without knobs: people who open it keep their own knobs. */
export function learnHash(chapter: ChapterId | typeof CLASS_VIEW, exercise?: string): string {
  return `#/learn/${chapter}${exercise === undefined ? '' : `/${exercise}`}`;
}

export function learnLink(hash: string): string {
  return `${location.origin}${location.pathname}${hash}`;
}

/** The address of an answer, or of all of them. */
export function answerHash(id = ''): string {
  return id === '' ? '#/answers' : `#/answers/${id}`;
}

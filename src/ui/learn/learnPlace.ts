import { CHAPTERS, chapterNamed, exerciseNamed, type ChapterId } from './chapters.ts';
import { isLanguage, LANGUAGES, type Language } from './texts/shape.ts';
import { visible } from '../address/addressText.ts';

/** The address of the class view, in place of a chapter's id. */
export const CLASS = 'class';

/** A place of Learn: `LANGUAGE/CHAPTER/EXERCISE` or `LANGUAGE/class` in the address. */
export interface LearnPlace {
  readonly language: Language | null; // null: the reader's own
  readonly chapter: ChapterId | typeof CLASS | null; // null: the one read last
  readonly exercise: string | null;
  readonly corrections: readonly string[]; // messages about parts of the address that don't exist
}

/** Reads a place and never throws. Unknown parts are left out and get a correction. */
export function readPlace(place: string): LearnPlace {
  const parts = place.split('/').filter((part) => part !== '');
  const language = isLanguage(parts[0]) ? parts[0] : null;
  const [named, id, ...more] = language ? parts.slice(1) : parts;
  const corrections: string[] = [];
  const chapter = named === undefined ? undefined : named === CLASS ? CLASS : chapterNamed(named)?.id;
  if (named !== undefined && chapter === undefined) {
    const wanted = [...CHAPTERS.map((each) => each.id), CLASS].join(', ');
    const languages = Object.keys(LANGUAGES).join(' or ');
    corrections.push(
      `chapter: ${visible(named)} isn’t a chapter. Use ${languages}, then one of ${wanted}. Showing the last one read.`,
    );
  }
  const exercise = chapter && id !== undefined && exerciseNamed(chapter, id) ? id : null;
  if (chapter && (more.length > 0 || (id !== undefined && exercise === null))) {
    const wanted =
      chapterNamed(chapter)
        ?.exercises.map((each) => each.id)
        .join(' or ') ?? 'possible here';
    corrections.push(`exercise: ${visible([id, ...more].join('/'))} isn’t ${wanted}. Ignored.`);
  }
  return { language, chapter: chapter ?? null, exercise, corrections };
}

/** The address of a place of Learn, without knobs: people who open it keep their own knobs. */
export function learnHash(language: Language, chapter: ChapterId | typeof CLASS, exercise?: string): string {
  return `#/learn/${[language, chapter, ...(exercise === undefined ? [] : [exercise])].join('/')}`;
}

/** A full link to an address of Learn, for sharing. */
export function learnLink(hash: string): string {
  return `${location.origin}${location.pathname}${hash}`;
}

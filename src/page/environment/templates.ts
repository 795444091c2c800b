import { emptyFile } from './emptyClass.ts';
import { type EnvironmentFile, type EnvironmentLanguage, languageOf } from '../../domain/environmentFile.ts';

const TEMPLATE_TEXTS = import.meta.glob<string>(['../../../public/environments/*.{ts,py}', '!**/*.d.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

export interface Template {
  readonly file: EnvironmentFile;
  readonly title: string;
  readonly summary: string; // the first sentence of the comment on its class
}

const CLASS_COMMENTS: Readonly<Record<EnvironmentLanguage, RegExp>> = {
  typescript: /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export default class/,
  python: /^class \w+:\s*"""([^]*?)"""/m,
};

/** The shipped environments: all files in `public/environments`. */
export const TEMPLATES: readonly Template[] = Object.entries(TEMPLATE_TEXTS)
  .map(([path, text]) => ({ name: path.replace(/.*\//, ''), text }))
  .map((file) => ({ file, title: titleOf(file.name), summary: summaryOf(file) }));

export const EMPTY_TEMPLATES: readonly Template[] = (['typescript', 'python'] as const).map((language) => ({
  file: emptyFile(language),
  title: 'Empty class',
  summary: 'Only what every environment needs, for you to fill in.',
}));

/** File name of the first template of each language. The TypeScript one is in the editor on a first visit. */
export const FIRST_TEMPLATES: Readonly<Record<EnvironmentLanguage, string>> = {
  typescript: 'guessTheWord.ts',
  python: 'hiddenWord.py',
};

/** A new name if the file still has its template's name or the one of `classBefore` (null: no such name); null if it keeps its name. */
export function nameAfterClass(name: string, className: string, classBefore: string | null): string | null {
  const nameFor = (forClass: string) =>
    forClass.charAt(0).toLowerCase() + forClass.slice(1) + name.slice(name.lastIndexOf('.'));
  const isAutomatic =
    (classBefore !== null && name === nameFor(classBefore)) ||
    [...TEMPLATES, ...EMPTY_TEMPLATES].some(({ file }) => file.name === name);
  const fileName = nameFor(className);
  return !isAutomatic || fileName === name ? null : fileName; // otherwise a person chose the name
}

/** `guessTheWord.ts` in words: Guess the word. */
function titleOf(name: string): string {
  const words = name
    .replace(/\.(ts|py)$/, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function summaryOf(file: EnvironmentFile): string {
  const comment = CLASS_COMMENTS[languageOf(file)].exec(file.text)?.[1] ?? '';
  const words = comment
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:!?](?= |$)/.exec(words)?.[0].replace(/:$/, '.') ?? words;
}

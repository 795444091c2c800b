import { type EnvironmentFile, type EnvironmentLanguage, languageOf } from '../../domain/environmentFile.ts';

const TEXTS = import.meta.glob<string>(['../../../public/environments/*.{ts,py}', '!**/*.d.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** An environment that ships with the page, to start from. */
export interface Template {
  readonly file: EnvironmentFile;
  readonly title: string; // its name in words
  readonly sentence: string; // the first one of what its class says of itself
}

/** What a class says of itself, in each language. */
const COMMENTS: Readonly<Record<EnvironmentLanguage, RegExp>> = {
  typescript: /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export default class/,
  python: /^class \w+:\s*"""([^]*?)"""/m,
};

/** The shipped environments; whatever lies in their folder is here. */
export const TEMPLATES: readonly Template[] = Object.entries(TEXTS)
  .map(([path, text]) => ({ name: path.replace(/.*\//, ''), text }))
  .map((file) => ({ file, title: titleOf(file.name), sentence: sentenceOf(file) }));

/** The template of each language that comes first; the one in TypeScript stands in the editor on a first visit. */
export const FIRST_TEMPLATES: Readonly<Record<EnvironmentLanguage, string>> = {
  typescript: 'guessTheWord.ts',
  python: 'hiddenWord.py',
};

/** The name of a file whose class has another name than the template that it began as; null if the file keeps its name. */
export function nameAfterClass(name: string, className: string): string | null {
  if (!TEMPLATES.some(({ file }) => file.name === name)) return null; // it was named by a person
  const own = className.charAt(0).toLowerCase() + className.slice(1) + name.slice(name.lastIndexOf('.'));
  return own === name ? null : own;
}

/** `guessTheWord.ts` in words: Guess the word. */
function titleOf(name: string): string {
  const words = name
    .replace(/\.(ts|py)$/, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function sentenceOf(file: EnvironmentFile): string {
  const comment = COMMENTS[languageOf(file)].exec(file.text)?.[1] ?? '';
  const words = comment
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:!?](?= |$)/.exec(words)?.[0].replace(/:$/, '.') ?? words;
}

import type { EnvironmentFile } from '../../domain/environmentFile.ts';

const TEXTS = import.meta.glob<string>(['../../../public/environments/*.ts', '!**/*.d.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** An environment that ships with the page, to start from. */
export interface Template {
  readonly file: EnvironmentFile;
  readonly title: string; // its name in words
  readonly sentence: string; // the first one of the comment before its class
}

/** The shipped environments; whatever lies in their folder is here. */
export const TEMPLATES: readonly Template[] = Object.entries(TEXTS)
  .map(([path, text]) => ({ name: path.replace(/.*\//, ''), text }))
  .map((file) => ({ file, title: titleOf(file.name), sentence: sentenceOf(file.text) }));

/** What stands in the editor on a first visit. */
export const FIRST_TEMPLATE = 'guessTheWord.ts';

/** `guessTheWord.ts` in words: Guess the word. */
function titleOf(name: string): string {
  const words = name
    .replace(/\.ts$/, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function sentenceOf(text: string): string {
  const comment = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export default class/.exec(text)?.[1] ?? '';
  const words = comment
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:!?](?= |$)/.exec(words)?.[0].replace(/:$/, '.') ?? words;
}

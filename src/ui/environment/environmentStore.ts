import { create } from 'zustand';
import {
  type EnvironmentFile,
  type EnvironmentLanguage,
  languageOf,
  MAX_ENVIRONMENT_BYTES,
} from '../../domain/environmentFile.ts';
import type { Examination, Reading } from '../../written/examination.ts';
import { isRecord } from '../../base/jsonRecord.ts';
import { addressExcerpt } from '../address/addressText.ts';
import { keptText, putAside, readKeptText } from '../parts/keptText.ts';
import { notice } from '../shell/notices.ts';
import { FIRST_TEMPLATES, TEMPLATES } from './templates.ts';

interface EditorFile extends EnvironmentFile {
  /** Whether the file came by a link, so that somebody else may have written it. */
  readonly byLink: boolean;
}

interface EnvironmentState {
  /** The file in the editor. */
  readonly file: EditorFile;
  /** The file that was in the editor before. */
  readonly before: EditorFile | null;
  /** How often another file was put into the editor. */
  readonly openedCount: number;
  /** Why the last file was refused. */
  readonly refusalMessage: string | null;
  /** The line that the editor should show. */
  readonly lineToShow: { readonly line: number } | null;
  /** Whether the browser saved the file, so that it's there after a reload. */
  readonly isSaved: boolean;
  readonly reading: {
    readonly text: string;
    readonly language: EnvironmentLanguage;
    readonly result: Reading;
  } | null;
  readonly check:
    | { readonly state: 'running'; readonly text: string; readonly progress: number }
    | {
        readonly state: 'done';
        readonly text: string;
        readonly examination: Examination;
        /** If the check was part of an export: the zip's name, or null if nothing was written. */
        readonly exported: { readonly zipName: string | null } | null;
      }
    | { readonly state: 'ended'; readonly text: string; readonly reason: string }
    | null;
}

const STORAGE_KEY = 'rollout-playground-environment';
const STORED_FIELDS = ['file', 'before'] as const;

/** The person's own environment in the editor. Stored in this browser. */
export const useEnvironment = create<EnvironmentState>()(() => ({
  ...{
    before: null,
    openedCount: 0,
    refusalMessage: null,
    lineToShow: null,
    isSaved: true,
    reading: null,
    check: null,
  },
  ...(loadStored() ?? { file: initialFile() }),
}));

/** Stores the text after a change in the editor. */
export function setText(text: string): void {
  const { file } = useEnvironment.getState();
  if (text !== file.text) updateAndStore({ file: { ...file, text } });
}

/** Gives the file another name. */
export function renameFile(name: string): void {
  const { file } = useEnvironment.getState();
  updateAndStore({ file: { ...file, name } });
}

/** Makes the editor show a line, from 1. */
export function goToLine(line: number): void {
  useEnvironment.setState({ lineToShow: { line } });
}

/** Puts a file into the editor. The old one can be brought back. */
export function openInEditor({ name, text }: EnvironmentFile, byLink: boolean): void {
  const { file: old, before, openedCount } = useEnvironment.getState();
  const isSameText = old.text === text; // the same text keeps its origin (the person's own, or a link)
  const file = { name, text, byLink: isSameText ? old.byLink : byLink };
  updateAndStore({
    file,
    refusalMessage: null,
    check: null,
    lineToShow: null,
    openedCount: openedCount + 1,
    before: isSameText ? before : old,
  });
}

/** Brings back the previous file. The current one becomes the previous one, so this can be undone. */
export function restorePreviousFile(): void {
  const { before } = useEnvironment.getState();
  if (before) openInEditor(before, before.byLink);
}

/** Opens a file from this machine. */
export async function openFile(localFile: File): Promise<void> {
  const refuse = (why: string) =>
    useEnvironment.setState({ refusalMessage: `${addressExcerpt(localFile.name)} ${why}` });
  if (localFile.size > MAX_ENVIRONMENT_BYTES) {
    refuse('is larger than 1 MB. An environment is one short class. Choose another file.');
    return;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await localFile.arrayBuffer());
    openInEditor({ name: localFile.name, text: text.replaceAll('\r\n', '\n') }, false);
  } catch {
    refuse('isn’t UTF-8 text. Choose a TypeScript or Python file.');
  }
}

function initialFile(): EditorFile {
  return { ...firstTemplate('typescript'), byLink: false };
}

function firstTemplate(language: EnvironmentLanguage): EnvironmentFile {
  const name = FIRST_TEMPLATES[language];
  return { name, text: TEMPLATES.find(({ file }) => file.name === name)?.file.text ?? '' };
}

/** Switches the language. Shows the previous file if it's in that language, otherwise the language's first template. */
export function chooseLanguage(language: EnvironmentLanguage): void {
  const { file, before } = useEnvironment.getState();
  if (languageOf(file) === language) return;
  if (before && languageOf(before) === language) restorePreviousFile();
  else openInEditor(firstTemplate(language), false);
}

function loadStored(): Pick<EnvironmentState, 'file' | 'before'> | null {
  try {
    const stored = globalThis.localStorage.getItem(STORAGE_KEY);
    if (stored === null) return null;
    const { file, before } = readKeptText(stored, STORED_FIELDS);
    if (!isEditorFile(file)) throw new RangeError('it has no file');
    return { file, before: isEditorFile(before) ? before : null };
  } catch (error) {
    if (error instanceof RangeError) {
      putAside(STORAGE_KEY);
      notice(`The environment you wrote couldn’t be read and was set aside: ${error.message}.`);
    }
    return null; // storage is blocked, so nothing is stored
  }
}

function isEditorFile(value: unknown): value is EditorFile {
  if (!isRecord(value)) return false;
  const { name, text, byLink } = value;
  return typeof name === 'string' && typeof text === 'string' && typeof byLink === 'boolean';
}

function updateAndStore(changed: Partial<EnvironmentState>): void {
  useEnvironment.setState(changed);
  const { file, before } = useEnvironment.getState();
  let isStored = true;
  try {
    globalThis.localStorage.setItem(STORAGE_KEY, keptText({ file, before }));
  } catch {
    isStored = false; // private windows may refuse storage
  }
  if (isStored !== useEnvironment.getState().isSaved) useEnvironment.setState({ isSaved: isStored });
}

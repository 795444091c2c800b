import { create } from 'zustand';
import {
  type EnvironmentFile,
  type EnvironmentLanguage,
  languageOf,
  MAX_ENVIRONMENT_BYTES,
} from '../../domain/environmentFile.ts';
import type { Examination, Reading } from '../../written/examination.ts';
import { checksumOf } from '../../base/checksum.ts';
import { isRecord } from '../../base/jsonRecord.ts';
import { addressExcerpt } from '../address/addressText.ts';
import { keptText, putAside, readKeptText } from '../browser/keptText.ts';
import { notice } from '../browser/notices.ts';
import { allDrafts, deleteDraft, type Draft, draftWithId, keepDraft } from './drafts.ts';
import { EMPTY_TEMPLATES, FIRST_TEMPLATES, TEMPLATES } from './templates.ts';

interface EditorFile extends EnvironmentFile {
  /** Whether the file came by a link, so that somebody else may have written it. */
  readonly byLink: boolean;
}

interface EnvironmentState {
  readonly file: EditorFile;
  readonly before: EditorFile | null;
  /** All texts that the person wrote, the newest first, of other tabs too. */
  readonly drafts: readonly Draft[];
  /** Number of the draft that holds the file; null if nobody has changed the file since it was opened. */
  readonly draftId: string | null;
  readonly openedCount: number;
  readonly refusalMessage: string | null;
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
const STORED_FIELDS = ['file', 'before', 'draftId'] as const;
/** A text that was left alone for this long becomes a version of its own: the next change begins another one. */
export const VERSION_PAUSE_MS = 10 * 60_000;

/**
 * The person's own environment in the editor. This browser stores the file that a new tab shows first, and for each tab
 * the file that it shows after a reload. What a person writes is also kept as a draft, which no other file replaces.
 */
export const useEnvironment = create<EnvironmentState>()(() => ({
  ...{
    before: null,
    draftId: null,
    openedCount: 0,
    refusalMessage: null,
    lineToShow: null,
    isSaved: true,
    reading: null,
    check: null,
  },
  ...(loadStored() ?? { file: initialFile() }),
  drafts: allDrafts(), // after `loadStored`, which may add what an older page stored
}));

export function setText(text: string): void {
  const { file } = useEnvironment.getState();
  if (text !== file.text) changeFile({ ...file, text });
}

export function renameFile(name: string): void {
  const { file, draftId } = useEnvironment.getState();
  const renamed = { ...file, name };
  if (draftId === null) updateAndStore({ file: renamed });
  else changeFile(renamed);
}

/** Keeps it as a draft: in this tab's version, or in a new one after `VERSION_PAUSE_MS` or if another tab has changed that version. */
function changeFile(file: EditorFile): void {
  const { file: old, draftId } = useEnvironment.getState();
  const before = draftId === null ? null : draftWithId(draftId);
  const changed = Date.now();
  const isOwn = before !== null && before.text === old.text && before.name === old.name;
  const goesOn = isOwn && changed - before.changed < VERSION_PAUSE_MS;
  const id = goesOn ? before.id : crypto.getRandomValues(new Uint32Array(2)).join('-');
  const draft = { id, name: file.name, text: file.text, changed };
  const isStored = keepDraft(draft, !goesOn);
  const drafts = goesOn ? [draft, ...useEnvironment.getState().drafts.filter((each) => each.id !== id)] : allDrafts();
  updateAndStore({ file, draftId: id, drafts }, isStored);
}

/** Puts a draft into the editor. The draft stays as it is: a change begins a new version. */
export function openDraft({ name, text }: Draft): void {
  openInEditor({ name, text }, false);
}

/** Deletes a draft that isn't in the editor. */
export function removeDraft(id: string): void {
  deleteDraft(id);
  readDrafts();
}

/** Lists the drafts anew, because another tab may have changed them. */
export function readDrafts(): void {
  useEnvironment.setState({ drafts: allDrafts() });
}

/** Makes the editor show a line, from 1. */
export function goToLine(line: number): void {
  useEnvironment.setState({ lineToShow: { line } });
}

/** Puts a file into the editor. The old one can be brought back; what the person wrote stays a draft. */
export function openInEditor({ name, text }: EnvironmentFile, byLink: boolean): void {
  const { file: old, before, draftId, openedCount } = useEnvironment.getState();
  const isSameText = old.text === text; // the same text keeps its origin (the person's own, or a link)
  const file = { name, text, byLink: isSameText ? old.byLink : byLink };
  updateAndStore({
    file,
    draftId: isSameText && old.name === name ? draftId : null,
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

function loadStored(): Pick<EnvironmentState, 'file' | 'before' | 'draftId'> | null {
  try {
    const stored = globalThis.sessionStorage.getItem(STORAGE_KEY);
    if (stored !== null) return readStored(stored);
  } catch {
    // this tab has stored nothing that can be read
  }
  try {
    const stored = globalThis.localStorage.getItem(STORAGE_KEY);
    // the draft belongs to the tab that stored this: a change here begins another one
    return stored === null ? null : { ...readStored(stored), draftId: null };
  } catch (error) {
    if (error instanceof RangeError) {
      putAside(STORAGE_KEY);
      notice(`The environment you wrote couldn’t be read and was set aside: ${error.message}.`);
    }
    return null; // storage is blocked, so nothing is stored
  }
}

/** Reads the stored text. Throws RangeError with the reason. */
function readStored(stored: string): Pick<EnvironmentState, 'file' | 'before' | 'draftId'> {
  const { file, before, draftId } = readKeptText(stored, STORED_FIELDS);
  if (!isEditorFile(file)) throw new RangeError('it has no file');
  const files = { file, before: isEditorFile(before) ? before : null };
  if (draftId !== undefined) return { ...files, draftId: typeof draftId === 'string' ? draftId : null };
  // an older page stored no drafts, so its files may be all that is left of what the person wrote
  for (const { name, text } of [files.file, ...(files.before ? [files.before] : [])]) {
    const isShipped = [...TEMPLATES, ...EMPTY_TEMPLATES].some((template) => template.file.text === text);
    if (!isShipped && !allDrafts().some((draft) => draft.text === text))
      keepDraft({ id: `older-${checksumOf({ name, text })}`, name, text, changed: Date.now() }, true);
  }
  return { ...files, draftId: null };
}

function isEditorFile(value: unknown): value is EditorFile {
  if (!isRecord(value)) return false;
  const { name, text, byLink } = value;
  return typeof name === 'string' && typeof text === 'string' && typeof byLink === 'boolean';
}

/** Stores the file for this tab and for new ones. `isDraftStored`: whether the browser stored the draft that holds the file. */
function updateAndStore(changed: Partial<EnvironmentState>, isDraftStored = true): void {
  useEnvironment.setState(changed);
  const { file, before, draftId } = useEnvironment.getState();
  const stored = keptText({ file, before, draftId });
  let isSaved = isDraftStored;
  for (const storage of [() => globalThis.sessionStorage, () => globalThis.localStorage]) {
    try {
      storage().setItem(STORAGE_KEY, stored);
    } catch {
      // private windows may refuse storage; a draft that is stored is enough
      if (draftId === null) isSaved = false;
    }
  }
  if (isSaved !== useEnvironment.getState().isSaved) useEnvironment.setState({ isSaved });
}

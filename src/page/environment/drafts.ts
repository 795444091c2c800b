import { isRecord } from '../../base/jsonRecord.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { keptText, readKeptText } from '../browser/keptText.ts';

/** A text that a person wrote: one version of the file of this name. */
export interface Draft extends EnvironmentFile {
  readonly id: string;
  /** When it was changed last, in ms since 1970. */
  readonly changed: number;
}

/** Versions that are kept of the files of one name. */
export const MAX_VERSIONS = 10;

const KEY_PREFIX = 'rollout-playground-draft-';
const STORED_FIELDS = ['name', 'text', 'changed'] as const;

/** Drafts that the browser refused to store. They last until the page is closed. */
const unstored = new Map<string, Draft>();

/** All drafts, the newest first. A draft that can't be read stays in storage, but isn't listed. */
export function allDrafts(): readonly Draft[] {
  const drafts = [...unstored.values(), ...draftIds().flatMap((id) => storedDraft(id) ?? [])];
  return drafts.sort((a, b) => b.changed - a.changed);
}

/** The draft of this number; null if there is none, or it can't be read. */
export function draftWithId(id: string): Draft | null {
  return unstored.get(id) ?? storedDraft(id);
}

/**
 * Keeps a draft, in place of what was kept under its number. If it is new, the name's oldest versions beyond
 * `MAX_VERSIONS` are deleted; if the browser has no room, all its other versions. Returns whether it is stored;
 * otherwise it lasts until the page is closed.
 */
export function keepDraft(draft: Draft, isNew: boolean): boolean {
  const { id, name, text, changed } = draft;
  unstored.delete(id);
  for (const isLastTry of [false, true]) {
    try {
      globalThis.localStorage.setItem(`${KEY_PREFIX}${id}`, keptText({ name, text, changed }));
      if (isNew) dropVersions(draft, MAX_VERSIONS);
      return true;
    } catch {
      if (!isLastTry) dropVersions(draft, 1);
    }
  }
  unstored.set(id, draft);
  return false;
}

export function deleteDraft(id: string): void {
  unstored.delete(id);
  try {
    globalThis.localStorage.removeItem(`${KEY_PREFIX}${id}`);
  } catch {
    // if storage is blocked, the draft was never stored
  }
}

/** Calls `onChange` when another tab keeps or deletes a draft. Returns a function that stops this. */
export function onOtherTabsDrafts(onChange: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key?.startsWith(KEY_PREFIX)) onChange();
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Keeps `count` versions of the name of `draft`: itself and the newest others. */
function dropVersions({ id, name }: Draft, count: number): void {
  const others = allDrafts().filter((each) => each.name === name && each.id !== id);
  for (const old of others.slice(count - 1)) deleteDraft(old.id);
}

function draftIds(): readonly string[] {
  try {
    const keys = Object.keys(globalThis.localStorage).filter((key) => key.startsWith(KEY_PREFIX));
    return keys.map((key) => key.slice(KEY_PREFIX.length));
  } catch {
    return []; // storage is blocked, so nothing is stored
  }
}

function storedDraft(id: string): Draft | null {
  try {
    const stored = globalThis.localStorage.getItem(`${KEY_PREFIX}${id}`);
    const fields = stored === null ? null : readKeptText(stored, STORED_FIELDS);
    if (!isRecord(fields)) return null;
    const { name, text, changed } = fields;
    return typeof name === 'string' && typeof text === 'string' && typeof changed === 'number'
      ? { id, name, text, changed }
      : null;
  } catch {
    return null;
  }
}

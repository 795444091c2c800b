import type { SpanKind } from '../domain/tokens.ts';
import type { Segment, SegmentRole } from './rolloutRecord.ts';

/** How text is split where a file does not say who wrote what: names of tags, and words that stand for a role on a line of their own. */
export interface SplitPattern {
  readonly think: readonly string[];
  readonly call: readonly string[];
  readonly observation: readonly string[];
  readonly answer: readonly string[];
  readonly system: readonly string[]; // these and those below: a line that is exactly this word
  readonly user: readonly string[];
  readonly assistant: readonly string[];
  readonly tool: readonly string[];
}

/** The pattern to begin with: ChatML's roles, as they stand when special tokens are skipped, and the tags agents are trained on. */
export const DEFAULT_PATTERN: SplitPattern = {
  think: ['think', 'thinking', 'reasoning'],
  call: ['tool_call', 'call', 'search', 'python', 'code'],
  observation: ['tool_response', 'obs', 'observation', 'information', 'result', 'interpreter'],
  answer: ['answer'],
  system: ['system'],
  user: ['user'],
  assistant: ['assistant'],
  tool: ['tool', 'ipython'], // the second is Llama 3's
};

/** What the entries of a pattern are called. */
export const PATTERN_LABELS: Readonly<Record<keyof SplitPattern, string>> = {
  think: 'tags of thoughts',
  call: 'tags of calls',
  observation: 'tags of observations',
  answer: 'tags of answers',
  system: 'lines that begin a system message',
  user: 'lines that begin a prompt',
  assistant: 'lines that begin the agent’s words',
  tool: 'lines that begin an observation',
};

const TAG_KINDS = ['think', 'call', 'observation', 'answer'] as const;
const LINE_ROLES = { system: 'system', user: 'prompt', assistant: 'action', tool: 'observation' } as const;
const NAME = /^[\w-]{1,40}$/;
const MOST_NAMES = 20;

/** Names as a person types them: words between blanks or commas; what cannot be a name is left out. */
export function readNames(text: string): string[] {
  const names = text.split(/[\s,]+/).map((name) => name.replace(/^<\/?|>$/g, ''));
  return [...new Set(names.filter((name) => NAME.test(name)))].slice(0, MOST_NAMES);
}

/** A stretch as the pattern finds it. */
export interface Piece {
  readonly role: SegmentRole;
  readonly kind: SpanKind;
  readonly text: string;
}

/** Splits the agent's own words by their tags; every character stays. Tags of observations do not count: these are the agent's words. */
export function splitByTags(text: string, pattern: SplitPattern): Piece[] {
  return split(text, { ...pattern, observation: [], system: [], user: [], assistant: [], tool: [] }, 'action');
}

/**
 * Splits a text that does not say who wrote which part. Every character is kept. The text belongs to the role `begin` until a line or a
 * tag names another. Tags of thoughts, calls and answers count only in the agent's text, because a system message may explain them.
 * With `glued`, a role may also stand at the end of a line's last word; see `isGlued`.
 */
export function split(text: string, pattern: SplitPattern, begin: SegmentRole, glued = false): Piece[] {
  const finder = finderOf(pattern, glued);
  const pieces: Piece[] = [];
  let base: SegmentRole = begin;
  let tag: { readonly name: string; readonly kind: SpanKind } | null = null;
  let at = 0;
  const take = (to: number) => {
    if (to <= at) return;
    const role = tag?.kind === 'observation' ? 'observation' : base;
    const kind = tag?.kind ?? base;
    pieces.push({ role, kind, text: text.slice(at, to) });
    at = to;
  };
  for (const match of finder ? text.matchAll(finder) : []) {
    const [whole, closing, name, alone, atEnd] = match;
    if (atEnd !== undefined && isWord(text, match.index, atEnd)) continue;
    const line = alone ?? atEnd;
    const kind = name === undefined ? undefined : kindOfTag(name, pattern);
    if (line !== undefined) {
      if (tag?.kind === 'observation') continue; // what a tool says may hold any line
      take(match.index);
      tag = null;
      base = roleOfLine(line, pattern) ?? base;
    } else if (name !== undefined && tag === null && closing === '') {
      const spoken = base === 'action' || pieces.some(({ role }) => role === 'action');
      const counts = kind === 'observation' ? spoken && base !== 'system' : base === 'action';
      if (!kind || !counts) continue;
      take(match.index);
      tag = { name, kind };
    } else if (name !== undefined && closing !== '' && name === tag?.name) {
      take(match.index + whole.length);
      tag = null;
    } else if (name !== undefined && closing !== '' && kind === 'think' && tag === null && base === 'action') {
      // the chat template had opened it in the prompt
      tag = { name, kind };
      take(match.index + whole.length);
      tag = null;
    }
  }
  take(text.length);
  return pieces;
}

/**
 * Whether a prompt writes roles as Llama 3 does once special tokens are skipped: `system`, `user`, … and an empty line. Nothing ends the
 * message before, so that a role is glued to its last word: `… look things up.user`.
 */
export function isGlued(prompt: string, pattern: SplitPattern): boolean {
  const blank = String.raw`\r?\n\r?\n`;
  const begins = new RegExp(`^\\s*(?:${rolesOf(pattern).join('|')})${blank}`);
  const speaks = new RegExp(`(?:${pattern.assistant.join('|')})(?:${blank}|$)`);
  return pattern.assistant.length > 0 && begins.test(prompt) && speaks.test(prompt);
}

/** English words that end in the name of a role. */
const WORDS =
  /(?:super|end|multi|non|power|diff|acc|ab|ref)user$|(?:eco|file|sub|micro|multi|bio|geo)system$|(?:s|multi|power)tool$/i;

/** Whether a role's name at `at` is the end of a longer word that English has. */
function isWord(text: string, at: number, name: string): boolean {
  const before = /[a-z]{1,12}$/i.exec(text.slice(Math.max(0, at - 12), at))?.[0] ?? '';
  return WORDS.test(before + name);
}

function rolesOf(pattern: SplitPattern): string[] {
  return Object.keys(LINE_ROLES).flatMap((role) => pattern[role as keyof typeof LINE_ROLES]);
}

/** Finds tags and lines that are a role; null where the pattern has neither. Linear: names are literal. */
function finderOf(pattern: SplitPattern, glued: boolean): RegExp | null {
  const tags = TAG_KINDS.flatMap((kind) => pattern[kind]);
  const lines = rolesOf(pattern);
  const parts = [
    ...(tags.length > 0 ? [`<(/?)(${tags.join('|')})>`] : ['(?!)()()']),
    ...(lines.length > 0 ? [`^(${lines.join('|')})[ \\t]*\\r?$`] : []),
    ...(lines.length > 0 && glued ? [`(?<=\\S)(${lines.join('|')})(?=\\r?\\n\\r?\\n)`] : []),
  ];
  return tags.length + lines.length > 0 ? new RegExp(parts.join('|'), 'gm') : null;
}

function roleOfLine(word: string, pattern: SplitPattern): SegmentRole | undefined {
  const found = Object.entries(LINE_ROLES).find(([role]) => pattern[role as keyof typeof LINE_ROLES].includes(word));
  return found?.[1];
}

function kindOfTag(name: string, pattern: SplitPattern): SpanKind | undefined {
  return TAG_KINDS.find((kind) => pattern[kind].includes(name));
}

/** Pieces as segments without tokens: a turn begins where the agent takes the word again. Blank pieces are left out. */
export function segmentsOf(pieces: readonly Piece[], turnsBefore = 0): Segment[] {
  let turn = turnsBefore;
  let agent = false;
  return pieces
    .filter(({ text }) => text.trim() !== '')
    .map((piece) => {
      const speaks = piece.role === 'action';
      if (speaks && !agent) turn++;
      agent = speaks;
      return { ...piece, turn, from: null, to: null };
    });
}

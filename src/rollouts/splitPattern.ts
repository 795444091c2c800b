import type { SpanKind } from '../domain/tokens.ts';
import type { Segment, SegmentRole } from './rolloutRecord.ts';

/**
 * Rules to split text whose file does not say who wrote what: names of tags, and words that name a role on a line of
 * their own.
 */
export interface SplitPattern {
  readonly think: readonly string[];
  readonly call: readonly string[];
  readonly observation: readonly string[];
  readonly answer: readonly string[];
  readonly system: readonly string[]; // here and below: a line that consists of this word begins a message of the role
  readonly user: readonly string[];
  readonly assistant: readonly string[];
  readonly tool: readonly string[];
}

/** The default pattern: ChatML's roles as they look when special tokens are skipped, and the usual tags of agents. */
export const DEFAULT_PATTERN: SplitPattern = {
  think: ['think', 'thinking', 'reasoning'],
  call: ['tool_call', 'call', 'search', 'python', 'code'],
  observation: ['tool_response', 'obs', 'observation', 'information', 'result', 'interpreter'],
  answer: ['answer'],
  system: ['system'],
  user: ['user'],
  assistant: ['assistant'],
  tool: ['tool', 'ipython'], // `ipython` in Llama 3
};

/** The label of each entry of a pattern. */
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
const MAX_NAMES = 20;

/** Parses names that a person typed, separated by blanks or commas. Leaves out words that cannot be names. */
export function readNames(text: string): string[] {
  const names = text.split(/[\s,]+/).map((name) => name.replace(/^<\/?|>$/g, ''));
  return [...new Set(names.filter((name) => NAME.test(name)))].slice(0, MAX_NAMES);
}

/** A part of a text, with its role and kind. */
export interface Piece {
  readonly role: SegmentRole;
  readonly kind: SpanKind;
  readonly text: string;
}

/**
 * Splits the agent's text by tags. Every character is kept. Observation tags are ignored, because the agent wrote the
 * text.
 */
export function splitByTags(text: string, pattern: SplitPattern): Piece[] {
  return split(text, { ...pattern, observation: [], system: [], user: [], assistant: [], tool: [] }, 'action');
}

/**
 * Splits a text that does not say who wrote which part. Every character is kept. The text belongs to the role `begin`
 * until a line or a tag names another. Tags of thoughts, calls and answers count only in the agent's text, because a
 * system message may explain them. With `glued`, a role may also stand at the end of a line's last word; see `isGlued`.
 */
export function split(text: string, pattern: SplitPattern, begin: SegmentRole, glued = false): Piece[] {
  const finder = finderOf(pattern, glued);
  const pieces: Piece[] = [];
  let base: SegmentRole = begin;
  let tag: { readonly name: string; readonly kind: SpanKind } | null = null;
  let at = 0;
  const pushUpTo = (to: number) => {
    if (to <= at) return;
    const role = tag?.kind === 'observation' ? 'observation' : base;
    const kind = tag?.kind ?? base;
    pieces.push({ role, kind, text: text.slice(at, to) });
    at = to;
  };
  for (const match of finder ? text.matchAll(finder) : []) {
    const [whole, closing, name, lineRole, gluedRole] = match;
    if (gluedRole !== undefined && endsWord(text, match.index, gluedRole)) continue;
    const line = lineRole ?? gluedRole;
    const kind = name === undefined ? undefined : kindOfTag(name, pattern);
    if (line !== undefined) {
      if (tag?.kind === 'observation') continue; // a tool's output may contain any line
      pushUpTo(match.index);
      tag = null;
      base = roleOfLine(line, pattern) ?? base;
    } else if (name !== undefined && tag === null && closing === '') {
      const spoken = base === 'action' || pieces.some(({ role }) => role === 'action');
      const counts = kind === 'observation' ? spoken && base !== 'system' : base === 'action';
      if (!kind || !counts) continue;
      pushUpTo(match.index);
      tag = { name, kind };
    } else if (name !== undefined && closing !== '' && name === tag?.name) {
      pushUpTo(match.index + whole.length);
      tag = null;
    } else if (name !== undefined && closing !== '' && kind === 'think' && tag === null && base === 'action') {
      // the chat template opened the tag in the prompt
      tag = { name, kind };
      pushUpTo(match.index + whole.length);
      tag = null;
    }
  }
  pushUpTo(text.length);
  return pieces;
}

/**
 * Whether a prompt writes roles as Llama 3 does when special tokens are skipped: `system`, `user`, … and an empty line.
 * Nothing separates a role from the last word of the message before it, so the two are glued together, as in
 * `… look things up.user`.
 */
export function isGlued(prompt: string, pattern: SplitPattern): boolean {
  const blank = String.raw`\r?\n\r?\n`;
  const begins = new RegExp(`^\\s*(?:${rolesOf(pattern).join('|')})${blank}`);
  const speaks = new RegExp(`(?:${pattern.assistant.join('|')})(?:${blank}|$)`);
  return pattern.assistant.length > 0 && begins.test(prompt) && speaks.test(prompt);
}

/** English words that end in the name of a role. */
const WORDS_ENDING_IN_ROLE =
  /(?:super|end|multi|non|power|diff|acc|ab|ref)user$|(?:eco|file|sub|micro|multi|bio|geo)system$|(?:s|multi|power)tool$/i;

/** Whether the role's name at `at` is only the end of a longer English word. */
function endsWord(text: string, at: number, name: string): boolean {
  const before = /[a-z]{1,12}$/i.exec(text.slice(Math.max(0, at - 12), at))?.[0] ?? '';
  return WORDS_ENDING_IN_ROLE.test(before + name);
}

function rolesOf(pattern: SplitPattern): string[] {
  return Object.keys(LINE_ROLES).flatMap((role) => pattern[role as keyof typeof LINE_ROLES]);
}

/**
 * A regular expression for tags and role lines; null if the pattern has none. Takes linear time, because names are
 * literal.
 */
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

/**
 * Converts pieces to segments without tokens. A turn begins where the agent starts to write. Blank pieces are left out.
 */
export function segmentsOf(pieces: readonly Piece[], turnsBefore = 0): Segment[] {
  let turn = turnsBefore;
  let lastWasAgent = false;
  return pieces
    .filter(({ text }) => text.trim() !== '')
    .map((piece) => {
      const speaks = piece.role === 'action';
      if (speaks && !lastWasAgent) turn++;
      lastWasAgent = speaks;
      return { ...piece, turn, from: null, to: null };
    });
}

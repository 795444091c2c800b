import { kindOfTag, TAG_KINDS, TAG_NAMES, type TagKind } from '../domain/tagKinds.ts';
import type { SpanKind } from '../domain/tokens.ts';
import type { Segment, SegmentRole } from './rolloutRecord.ts';

/**
 * Rules to split text whose file does not say who wrote what: names of tags, and words that name a role on a line of
 * their own.
 */
export interface SplitPattern extends Readonly<Record<TagKind, readonly string[]>> {
  readonly system: readonly string[]; // here and below: a line that consists of this word begins a message of the role
  readonly user: readonly string[];
  readonly assistant: readonly string[];
  readonly tool: readonly string[];
}

/** The default pattern: ChatML's roles as they look when special tokens are skipped, and the usual tags of agents. */
export const DEFAULT_PATTERN: SplitPattern = {
  ...TAG_NAMES,
  system: ['system'],
  user: ['user'],
  assistant: ['assistant'],
  tool: ['tool', 'ipython'], // `ipython` in Llama 3
};

export const PATTERN_LABELS: Readonly<Record<keyof SplitPattern, string>> = {
  think: 'tags of thoughts',
  call: 'tags of calls',
  observation: 'tags of observations',
  answer: 'tags of answers',
  system: 'lines that begin a system message',
  user: 'lines that begin a prompt',
  assistant: 'lines that begin a turn of the agent',
  tool: 'lines that begin an observation',
};

const LINE_ROLES = { system: 'system', user: 'prompt', assistant: 'action', tool: 'observation' } as const;
const NAME = /^[\w-]{1,40}$/;
const MAX_NAMES = 20;

/** Parses names that a person typed, separated by blanks or commas. Leaves out words that cannot be names. */
export function parseNames(text: string): string[] {
  const names = text.split(/[\s,]+/).map((name) => name.replace(/^<\/?|>$/g, ''));
  return [...new Set(names.filter((name) => NAME.test(name)))].slice(0, MAX_NAMES);
}

export interface Piece {
  readonly role: SegmentRole;
  readonly kind: SpanKind;
  readonly text: string;
}

/** Every character is kept. Observation tags are ignored, because the agent wrote the text. */
export function splitByTags(text: string, pattern: SplitPattern): Piece[] {
  return splitByRole(text, { ...pattern, observation: [], system: [], user: [], assistant: [], tool: [] }, 'action');
}

/**
 * Splits a text that does not say who wrote which part. Every character is kept. The text belongs to the role
 * `firstRole` until a line or a tag names another role. Tags of thoughts, calls and answers count only in the agent's
 * text, because a system message may explain them. With `rolesRunTogether`, a role's name may also stand at the end of
 * a line's last word; see `hasRolesRunTogether`.
 */
export function splitByRole(
  text: string,
  pattern: SplitPattern,
  firstRole: SegmentRole,
  rolesRunTogether = false,
): Piece[] {
  const finder = finderOf(pattern, rolesRunTogether);
  const pieces: Piece[] = [];
  let currentRole: SegmentRole = firstRole;
  let openTag: { readonly name: string; readonly kind: SpanKind } | null = null;
  let pieceStart = 0;
  const pushUpTo = (end: number) => {
    if (end <= pieceStart) return;
    const role = openTag?.kind === 'observation' ? 'observation' : currentRole;
    const kind = openTag?.kind ?? currentRole;
    pieces.push({ role, kind, text: text.slice(pieceStart, end) });
    pieceStart = end;
  };
  for (const match of finder ? text.matchAll(finder) : []) {
    const [matchText, slash, name, lineRole, runOnRole] = match;
    if (runOnRole !== undefined && isEndOfWord(text, match.index, runOnRole)) continue;
    const roleWord = lineRole ?? runOnRole;
    const kind = name === undefined ? undefined : kindOfTag(name, pattern);
    if (roleWord !== undefined) {
      if (openTag?.kind === 'observation') continue; // a tool's output may contain any line
      pushUpTo(match.index);
      openTag = null;
      currentRole = roleOfLine(roleWord, pattern) ?? currentRole;
    } else if (name !== undefined && openTag === null && slash === '') {
      const agentSpoke = currentRole === 'action' || pieces.some(({ role }) => role === 'action');
      const isTagCounted = kind === 'observation' ? agentSpoke && currentRole !== 'system' : currentRole === 'action';
      if (!kind || !isTagCounted) continue;
      pushUpTo(match.index);
      openTag = { name, kind };
    } else if (name !== undefined && slash !== '' && name === openTag?.name) {
      pushUpTo(match.index + matchText.length);
      openTag = null;
    } else if (name !== undefined && slash !== '' && kind === 'think' && openTag === null && currentRole === 'action') {
      // the chat template opened the tag in the prompt
      openTag = { name, kind };
      pushUpTo(match.index + matchText.length);
      openTag = null;
    }
  }
  pushUpTo(text.length);
  return pieces;
}

/**
 * Whether a prompt writes roles as Llama 3 does when special tokens are skipped: `system`, `user`, … and an empty line.
 * Nothing separates a role from the last word of the message before it, so the two run together, as in
 * `… look things up.user`.
 */
export function hasRolesRunTogether(prompt: string, pattern: SplitPattern): boolean {
  const blank = String.raw`\r?\n\r?\n`;
  const beginsWithRole = new RegExp(`^\\s*(?:${rolesOf(pattern).join('|')})${blank}`);
  const assistantRole = new RegExp(`(?:${pattern.assistant.join('|')})(?:${blank}|$)`);
  return pattern.assistant.length > 0 && beginsWithRole.test(prompt) && assistantRole.test(prompt);
}

/** English words that end in the name of a role. */
const WORDS_ENDING_IN_ROLE =
  /(?:super|end|multi|non|power|diff|acc|ab|ref)user$|(?:eco|file|sub|micro|multi|bio|geo)system$|(?:s|multi|power)tool$/i;

/** Whether the role's name at `at` is only the end of a longer English word. */
function isEndOfWord(text: string, at: number, name: string): boolean {
  const letters = /[a-z]{1,12}$/i.exec(text.slice(Math.max(0, at - 12), at))?.[0] ?? '';
  return WORDS_ENDING_IN_ROLE.test(letters + name);
}

function rolesOf(pattern: SplitPattern): string[] {
  return Object.keys(LINE_ROLES).flatMap((role) => pattern[role as keyof typeof LINE_ROLES]);
}

/** Finds tags and role lines; null if the pattern has none. Takes linear time, because names are literal. */
function finderOf(pattern: SplitPattern, rolesRunTogether: boolean): RegExp | null {
  const tags = TAG_KINDS.flatMap((kind) => pattern[kind]);
  const lines = rolesOf(pattern);
  const parts = [
    ...(tags.length > 0 ? [`<(/?)(${tags.join('|')})>`] : ['(?!)()()']),
    ...(lines.length > 0 ? [`(?:^|${ROLE_BEGIN})(${lines.join('|')})[ \\t]*(?:${ROLE_END}|\\r?$)`] : []),
    ...(lines.length > 0 && rolesRunTogether ? [`(?<=\\S)(${lines.join('|')})(?=\\r?\\n\\r?\\n)`] : []),
  ];
  return tags.length + lines.length > 0 ? new RegExp(parts.join('|'), 'gm') : null;
}

/** Special tokens around a role, where a file keeps them: those of ChatML and Llama 3. */
const [ROLE_BEGIN, ROLE_END] = [String.raw`<\|(?:im_start|start_header_id)\|>`, String.raw`<\|end_header_id\|>`];

function roleOfLine(word: string, pattern: SplitPattern): SegmentRole | undefined {
  const entry = Object.entries(LINE_ROLES).find(([role]) => pattern[role as keyof typeof LINE_ROLES].includes(word));
  return entry?.[1];
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
      const byAgent = piece.role === 'action';
      if (byAgent && !lastWasAgent) turn++;
      lastWasAgent = byAgent;
      return { ...piece, turn, from: null, to: null };
    });
}

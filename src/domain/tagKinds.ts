/** The parts of a turn that tags enclose. */
export type TagKind = 'think' | 'call' | 'observation' | 'answer';

/**
 * Names of tags, by what they enclose. The first of each is the tag of this project's chat template; the others are
 * those of its word-level vocabularies and of other programs' agents.
 */
export const TAG_NAMES: Readonly<Record<TagKind, readonly [string, ...string[]]>> = {
  think: ['think', 'thinking', 'reasoning'],
  call: ['tool_call', 'call', 'search', 'python', 'code'],
  observation: ['tool_response', 'obs', 'observation', 'information', 'result', 'interpreter'],
  answer: ['answer'],
};

export const TAG_KINDS = Object.keys(TAG_NAMES) as readonly TagKind[];

/** What a tag of this name encloses; undefined for a name that isn't in `names`. */
export function kindOfTag(
  name: string,
  names: Readonly<Record<TagKind, readonly string[]>> = TAG_NAMES,
): TagKind | undefined {
  return TAG_KINDS.find((kind) => names[kind].includes(name));
}

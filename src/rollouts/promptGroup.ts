import { checksumOf } from '../base/checksum.ts';
import { visible } from '../base/visible.ts';
import type { RolloutRecord } from './rolloutRecord.ts';

const MAX_COMPARED = 50_000; // characters of a prompt
const MAX_LABEL = 80; // characters
const MAX_WORD = 24; // a label begins with the whole word that differs, up to this length

/** Guesses groups for files without them: rollouts of one step with equal prompts are assumed to be one group. */
export function promptGroup(prompt: unknown): string {
  return `prompt ${checksumOf(prompt)}`;
}

interface ComparedText {
  readonly group: string;
  readonly text: string; // all of it: a prompt may hold examples of answers, which look like the agent's
  readonly promptLength: number; // up to the agent's first word
  readonly lastMessage: number; // where the last message before that word begins
}

/** Labels for the groups of a run: names from its file, or the part of each prompt where the prompts differ. */
export class GroupLabels {
  #first: ComparedText | null = null;
  readonly #firstIndices = new Set<number>(); // the groups with the prompt of the first, in several steps
  #shared = Infinity; // characters that all prompts so far begin with
  readonly #groups = new Map<string, string>(); // by label

  /** Labels by index: those of new groups, each given by one of its rollouts, and the first one's if it changes. */
  label(newGroups: ReadonlyMap<number, RolloutRecord>): ReadonlyMap<number, string> {
    const sharedBefore = this.#shared;
    const texts = Array.from(newGroups, ([index, record]) => ({ index, record, compared: comparedText(record) }));
    for (const { index, compared } of texts) {
      this.#first ??= compared;
      if (!compared || !this.#first) continue;
      if (compared.group === this.#first.group) this.#firstIndices.add(index);
      else this.#shared = Math.min(this.#shared, sharedStart(this.#first.text, compared.text));
    }
    const labels = new Map(
      texts.map(({ index, record, compared }) => [
        index,
        compared ? this.#labelOf(compared) : visible(record.group ?? ''),
      ]),
    );
    if (this.#first && this.#shared < sharedBefore) {
      const firstLabel = this.#labelOf(this.#first);
      for (const index of this.#firstIndices) labels.set(index, firstLabel);
    }
    return labels;
  }

  #labelOf({ group, text, promptLength, lastMessage }: ComparedText): string {
    const at = this.#shared === Infinity ? lastMessage : this.#shared; // Infinity: the run has one prompt so far
    return visible(this.#unique(group, excerpt(at < promptLength ? text.slice(0, promptLength) : text, at)));
  }

  /** The label; with a number behind it if a group with another prompt has it. */
  #unique(group: string, label: string): string {
    for (let n = 1; ; n++) {
      const numbered = n === 1 ? label : `${label} (${n})`;
      const owner = this.#groups.get(numbered) ?? group;
      this.#groups.set(numbered, owner);
      if (owner === group) return numbered;
    }
  }
}

/** The text of a rollout whose group is guessed from its prompt; null if its file names the group. */
function comparedText({ group, guessed, segments }: RolloutRecord): ComparedText | null {
  if (group === null || !guessed.includes('group')) return null;
  const texts = segments.map((segment) => segment.text);
  const agentAt = segments.findIndex(({ role }) => role === 'action');
  const before = texts.slice(0, agentAt < 0 ? undefined : agentAt);
  const text = texts.join('\n').slice(0, MAX_COMPARED);
  return { group, text, promptLength: before.join('\n').length, lastMessage: before.slice(0, -1).join('\n').length };
}

function sharedStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

/** The words of a prompt from the one at position `at`. */
function excerpt(prompt: string, at: number): string {
  const before = prompt.slice(0, at);
  const start = before.length - (new RegExp(`\\S{0,${MAX_WORD}}$`).exec(before)?.[0].length ?? 0);
  const words = prompt
    .slice(start, start + 2 * MAX_LABEL)
    .replace(/\s+/g, ' ')
    .trim();
  return (words || prompt.slice(-MAX_LABEL).trim()).slice(0, MAX_LABEL);
}

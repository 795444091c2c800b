/** A problem that the check found. It is listed once; `episodes` counts how often it came up. */
export interface Finding {
  readonly kind: 'fault' | 'warning';
  readonly text: string;
  readonly line: number | null;
  readonly episodes: number;
}

/** A batch of episodes that an untrained model played, with the knobs that a default run has. */
export interface UntrainedPlay {
  readonly reward: number; // mean
  readonly episodeTokens: number; // the most that an episode can have
  readonly prompts: number; // of a batch that fits into memory
  readonly defaultPrompts: number; // of a batch, if memory doesn't matter
}

const MAX_EXAMPLE = 200; // characters

/** The findings of a report that have to be fixed. Warnings don't have to be. */
export const faultsOf = ({ findings }: { readonly findings: readonly Finding[] }): readonly Finding[] =>
  findings.filter(({ kind }) => kind === 'fault');

/** Each is kept once, with how often it came up. Texts that differ only in numbers, or in the `example` at their end, are the same. */
export class Findings {
  readonly #found = new Map<string, Finding>();

  /** Adds a finding, or counts it once more. */
  add(kind: Finding['kind'], text: string, line: number | null, example = ''): void {
    const key = `${line ?? ''} ${text.replace(/\d+/g, '#')}`;
    const before = this.#found.get(key);
    const shown = Array.from(example).slice(0, MAX_EXAMPLE).join('') + (example.length > MAX_EXAMPLE ? '…' : '');
    this.#found.set(key, { kind, text: text + shown, line, ...before, episodes: (before?.episodes ?? 0) + 1 });
  }

  /** All findings: faults first, then warnings; within each kind, the most frequent first. */
  list(): readonly Finding[] {
    return [...this.#found.values()].toSorted((a, b) => a.kind.localeCompare(b.kind) || b.episodes - a.episodes);
  }
}

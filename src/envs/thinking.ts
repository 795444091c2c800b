/** Grades the think spans of one episode. */
export interface Thinking {
  /**
   * The share of the words of a turn's span that are among `needs`, the words that name what the right next action needs. A
   * word said twice counts once among those that are right and twice among those said, so padding never pays; an empty
   * span earns 0. The same needs are paid for once in an episode: who has named them and then does something else is not
   * paid for naming them again, so thinking in circles earns nothing.
   */
  share(thought: readonly string[], needs: readonly string[]): number;
}

/** Starts with nothing paid for. */
export function beginThinking(): Thinking {
  const paid = new Set<string>();
  return {
    share(thought, needs) {
      const key = needs.join(' ');
      const right = new Set(thought.filter((word) => needs.includes(word))).size;
      if (right === 0 || paid.has(key)) return 0;
      paid.add(key);
      return right / thought.length;
    },
  };
}

/** A turn that first says to itself what it is about to do: the words of its call or answer, in a think span. */
export function thinkAloud(action: readonly string[]): readonly string[] {
  return ['<think>', ...action.slice(1, -1), '</think>', ...action];
}

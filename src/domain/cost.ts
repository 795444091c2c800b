/** What an answer would take: work on one core, and memory beside what the run has. */
export interface Cost {
  readonly seconds: number; // about
  readonly bytes: number; // at most
}

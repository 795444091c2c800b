/** The cost of an answer: time on one core, and memory in addition to the run's. */
export interface Cost {
  readonly seconds: number; // an estimate
  readonly bytes: number; // an upper bound
}

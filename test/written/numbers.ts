/** An environment with two tools: find a number from 0 to 9. A wrong number is refused; asking costs a turn. */
export const NUMBERS = `/** Find the number. */
export default class Numbers {
  static tasks = { train: 1000, test: 20 };
  static maxTurns = 3;
  static weights = { right: 1, close: 0.5 };
  hidden = 0; last = -1; paid = 0; done = false;
  reset({ split, index, draw }): string { this.hidden = draw.int(10); return split + ' ' + index; }
  /**
   * Guesses the number.
   * @param n the number
   */
  guess(n: number): string {
    if (n > 9) throw new Error('At most 9.');
    this.last = n;
    this.done = n === this.hidden;
    this.paid = 0.25;
    return this.done ? 'found' : n < this.hidden ? 'more' : 'less';
  }
  /** Says whether it is even. */
  ask(loud: boolean): string { this.paid = 0; return this.hidden % 2 === 0 ? 'even' : 'odd'; }
  expert() { return { tool: "guess", arguments: { n: this.hidden } }; }
  turnReward() { return this.paid; }
  getReward() { return { right: this.done ? 1 : 0, close: this.last < 0 ? 0 : 1 - Math.abs(this.last - this.hidden) / 10 }; }
}
`;
/** An environment that shows the sign of a zero and earns what it is told, twice. */
export const SIGNS = `export default class Signs {
  static maxTurns = 2;
  static weights = { once: 1, again: 1 };
  told = 0;
  reset(): string { return 'begin'; }
  act(n: number): string { this.told = n; return String(1 / n); }
  getReward() { return { once: this.told, again: this.told }; }
}
`;

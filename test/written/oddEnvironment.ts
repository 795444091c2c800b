/**
 * An environment with everything that is hard to write in Python: tools and parameters whose names are words of Python, comments with
 * quotes, backslashes and sections of a docstring, letters outside Unicode's first plane, every type of parameter, numbers whose last bit matters.
 */
export const ODD_ENVIRONMENT = String.raw`
/** Say "when"; it's a \ backslash, and """three quotes""". Ünïcödé 💥 "" */
export default class Odd {
  static tasks = { train: 300, test: 60 };
  static maxTurns = 5;
  static weights = { near: 1, 'with a "quote"': 0.25 };
  goal = 0; at = 0; said = ''; turns = 0;
  done = false;

  reset({ draw, index }) {
    this.goal = Math.sin(draw.next() * 10) * Math.pow(1.1, index % 7);
    return ${'`'}Reach ${'${this.goal}'} “now” 💥 ${'${index}'}${'`'};
  }

  /**
   * Goes a step. Returns: "nothing" \n
   * Args: none """
   * @param from where from, "quoted" \ and
   *   on two lines (choices: any)
   * @param lambda how
   * @param self whether it is so
   */
  import(from: number, lambda: 'up' | 'down it' | '💥', self: boolean): string {
    if (self) throw new Error('not "so" \\ 💥');
    this.at += lambda === 'up' ? from / 3 : Math.exp(-Math.abs(from) / 7);
    this.turns++;
    this.done = Math.abs(this.at - this.goal) < 0.5;
    return ${'`'}at ${'${this.at}'}${'`'};
  }

  /** */
  print(text: string): string {
    this.said += text;
    return text.split('').reverse().join('') + '\ud83d';
  }

  look(): string {
    return Math.log(2 + Math.abs(this.at)).toString();
  }

  answer(text: string) { this.said = text; }

  turnReward() { return Math.sqrt(this.turns) / 10; }

  getReward() {
    return { near: Math.exp(-Math.abs(this.at - this.goal)), 'with a "quote"': this.said.length % 3, other: this.turns / 7 };
  }

  expert(draw) {
    if (this.turns > 2) return 'when';
    return { tool: 'import', arguments: { from: draw.int(9) - 4.5, lambda: draw.pick(['up', 'down it']), self: draw.chance(0.2) } };
  }
}
`;

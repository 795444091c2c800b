import type { Task } from './environment.d.ts';

const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

/** Play X and get three in a row within four moves. The task lists the squares in the order in which O likes them. O completes a row if it can. Otherwise it takes the free square that it likes most. */
export default class TicTacToe {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 4;
  static weights = { won: 1, lost: -0.5 };

  private board = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
  private likes: number[] = [];
  done = false;

  reset({ draw }: Task): string {
    this.likes = draw.shuffle([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    return `O likes ${this.likes.map((square) => square + 1).join(' ')}`;
  }

  /**
   * Takes a free square. Then O moves.
   * @param square its number, from 1 (top left) to 9 (bottom right)
   */
  take(square: '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'): string {
    const at = Number(square) - 1;
    if (!this.isFree(at)) throw new Error('That is taken');
    this.board[at] = 'X';
    if (!this.has('X')) {
      const answer = this.completing('O') ?? this.likes.find((other) => this.isFree(other));
      if (answer !== undefined) this.board[answer] = 'O';
    }
    this.done = this.has('X') || this.has('O');
    return this.board.join(' ');
  }

  getReward() {
    return { won: this.has('X') ? 1 : 0, lost: this.has('O') ? 1 : 0 };
  }

  /** The board. The same position is the same state, whatever moves led to it. */
  stateKey(): string {
    return this.board.join(' ');
  }

  /** The board, which the page draws beside the calls: a free square has its number. */
  view() {
    return { grid: [0, 3, 6].map((from) => this.board.slice(from, from + 3)) };
  }

  /** Completes a row if it can. Otherwise it blocks a row of O, or takes the centre, a corner or a side, in this order. */
  expert() {
    const others = [4, 0, 2, 6, 8, 1, 3, 5, 7].find((square) => this.isFree(square));
    const at = this.completing('X') ?? this.completing('O') ?? others ?? 0;
    return { tool: 'take', arguments: { square: String(at + 1) } };
  }

  private isFree(at: number): boolean {
    return this.board[at] === String(at + 1);
  }

  private has(player: string): boolean {
    return LINES.some((line) => line.every((at) => this.board[at] === player));
  }

  /** The free square of a row in which the player has the two others. */
  private completing(player: string): number | undefined {
    const line = LINES.find(
      (three) => three.some((at) => this.isFree(at)) && three.filter((at) => this.board[at] === player).length === 2,
    );
    return line?.find((at) => this.isFree(at));
  }
}

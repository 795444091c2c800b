import type { Call, Task } from './environment.d.ts';

const JUGS = ['A', 'B', 'C'];

/** Three jugs and a fountain. Get exactly so many litres into one of the jugs. */
export default class WaterJugs {
  static tasks = { train: 20_000, test: 100 };
  static maxTurns = 8;

  private sizes: number[] = [];
  private water: number[] = [];
  private target = 0;
  done = false;

  reset({ draw }: Task): string {
    // a puzzle that takes two to five moves
    for (;;) {
      this.sizes = draw.shuffle([2, 3, 4, 5, 6, 7, 8, 9]).slice(0, 3);
      this.target = 1 + draw.int(8);
      this.water = [0, 0, 0];
      const moves = this.solve().length;
      if (moves >= 2 && moves <= 5) break;
    }
    return `Jugs hold ${this.text(this.sizes)} get ${this.target} now ${this.text(this.water)}`;
  }

  /**
   * Fills a jug at the fountain.
   * @param jug the jug
   */
  fill(jug: 'A' | 'B' | 'C'): string {
    const at = JUGS.indexOf(jug);
    this.water[at] = this.sizes[at]!;
    return this.after();
  }

  /**
   * Empties a jug.
   * @param jug the jug
   */
  empty(jug: 'A' | 'B' | 'C'): string {
    this.water[JUGS.indexOf(jug)] = 0;
    return this.after();
  }

  /**
   * Pours from one jug into another, until one is empty or the other is full.
   * @param from the jug to pour from
   * @param to the jug to pour into
   */
  pour(from: 'A' | 'B' | 'C', to: 'A' | 'B' | 'C'): string {
    if (from === to) throw new Error('Take two jugs');
    this.water = this.poured(this.water, JUGS.indexOf(from), JUGS.indexOf(to));
    return this.after();
  }

  getReward(): number {
    return this.done ? 1 : 0;
  }

  /** The first move of a shortest way to the target. */
  expert(): Call {
    return this.solve()[0]!;
  }

  view() {
    return { table: [['jug', 'holds', 'has'], ...JUGS.map((jug, i) => [jug, this.sizes[i]!, this.water[i]!])] };
  }

  private after(): string {
    this.done = this.water.includes(this.target);
    return `now ${this.text(this.water)}`;
  }

  private text(litres: readonly number[]): string {
    return JUGS.map((jug, i) => `${jug} ${litres[i]}`).join(' ');
  }

  private poured(water: readonly number[], from: number, to: number): number[] {
    const amount = Math.min(water[from]!, this.sizes[to]! - water[to]!);
    return water.map((litres, i) => (i === from ? litres - amount : i === to ? litres + amount : litres));
  }

  /** A shortest list of moves from the water as it is now; empty if there is none. */
  private solve(): Call[] {
    const seen = new Set([this.water.join()]);
    let states: { readonly water: number[]; readonly moves: Call[] }[] = [{ water: this.water, moves: [] }];
    while (states.length > 0) {
      const next: typeof states = [];
      for (const { water, moves } of states) {
        const options: [Call, number[]][] = [];
        JUGS.forEach((jug, i) => {
          options.push([{ tool: 'fill', arguments: { jug } }, water.map((w, k) => (k === i ? this.sizes[i]! : w))]);
          options.push([{ tool: 'empty', arguments: { jug } }, water.map((w, k) => (k === i ? 0 : w))]);
          JUGS.forEach((to, j) => {
            if (i !== j) options.push([{ tool: 'pour', arguments: { from: jug, to } }, this.poured(water, i, j)]);
          });
        });
        for (const [call, after] of options) {
          if (after.includes(this.target)) return [...moves, call];
          if (seen.has(after.join())) continue;
          seen.add(after.join());
          next.push({ water: after, moves: [...moves, call] });
        }
      }
      states = next;
    }
    return [];
  }
}

import type { Task } from './environment.d.ts';

const GOODS = ['tea', 'milk', 'rice', 'salt', 'soap', 'figs', 'eggs', 'bread', 'honey', 'beans'];

/** Buy two of three things. One of them is too dear for the budget, so ask for prices first. */
export default class TinyShop {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 6;
  static weights = { bought: 1, basket: 0.2 };

  private prices = new Map<string, number>();
  private budget = 0;
  private asked: string[] = [];
  private basket: string[] = [];
  done = false;

  reset({ draw }: Task): string {
    const list = draw.shuffle(GOODS).slice(0, 3);
    const [dear = 0] = draw.shuffle([6, 7, 8, 9]);
    const prices = draw.shuffle([dear, ...draw.shuffle([1, 2, 3, 4]).slice(0, 2)]);
    this.prices = new Map(list.map((item, at) => [item, prices[at] ?? 0]));
    this.budget = this.cheapest().reduce((sum, item) => sum + this.priceOf(item), 0);
    return `Buy two of ${list.join(' ')} for ${this.budget}`;
  }

  /**
   * Tells the price of an item.
   * @param item an item from the list
   */
  price(item: string): string {
    const price = this.priceOf(item);
    this.asked.push(item);
    return `${item} costs ${price}`;
  }

  /**
   * Puts an item into the basket.
   * @param item an item from the list
   */
  add(item: string): string {
    this.priceOf(item);
    if (this.basket.includes(item)) throw new Error('You have that');
    this.basket.push(item);
    return `basket ${this.basket.join(' ')}`;
  }

  /** Pays for the basket, which ends the task. */
  pay(): string {
    this.done = true;
    return this.total() <= this.budget ? 'paid' : 'too expensive';
  }

  getReward() {
    // only what was paid for counts, so that nobody stops with a full basket
    const paid = this.done && this.total() <= this.budget ? this.basket.length : 0;
    return { bought: paid === 2 ? 1 : 0, basket: paid / 2 };
  }

  /** Asks for prices until it knows which thing is too dear, then buys the two others. */
  expert() {
    const asked = this.asked.map((item) => this.priceOf(item));
    const known = asked.some((price) => price > 4) || asked.length >= 2;
    const unknown = [...this.prices.keys()].find((item) => !this.asked.includes(item));
    if (!known && unknown !== undefined) return { tool: 'price', arguments: { item: unknown } };
    const missing = this.cheapest().find((item) => !this.basket.includes(item));
    return missing === undefined ? { tool: 'pay', arguments: {} } : { tool: 'add', arguments: { item: missing } };
  }

  private priceOf(item: string): number {
    const price = this.prices.get(item);
    if (price === undefined) throw new Error('There is no such thing');
    return price;
  }

  private total(): number {
    return this.basket.reduce((sum, item) => sum + this.priceOf(item), 0);
  }

  private cheapest(): string[] {
    const items = [...this.prices.keys()].sort((a, b) => this.priceOf(a) - this.priceOf(b));
    return items.slice(0, 2);
  }
}

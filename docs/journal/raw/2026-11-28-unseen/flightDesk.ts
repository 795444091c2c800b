import type { Task } from './environment.d.ts';

const PEOPLE = ['Adam', 'Bob', 'Chelsie', 'David', 'Emma', 'Frank', 'Grace', 'Henry'];
const CITIES = ['Oslo', 'Rome', 'Lima', 'Cairo', 'Delhi', 'Paris', 'Tokyo', 'Quito'];

interface Flight {
  readonly name: string;
  readonly hours: number;
}

/** An airline's desk: book somebody the shortest flight between two cities, or cancel somebody's trip. */
export default class FlightDesk {
  static tasks = { train: 20_000, test: 200 };
  static maxTurns = 5;
  static weights = { helped: 1, looked: 0.1 };

  private person = '';
  private from = '';
  private to = '';
  private wantsToCancel = false;
  private user = '';
  private trip = '';
  private flights: Flight[] = [];
  private knowsUser = false;
  private knowsFlights = false;
  private knowsTrip = false;
  private helped = false;
  done = false;

  reset({ draw }: Task): string {
    this.person = draw.pick(PEOPLE);
    [this.from = '', this.to = ''] = draw.shuffle(CITIES);
    this.wantsToCancel = draw.chance(0.4);
    this.user = `u${10 + draw.int(90)}`;
    this.trip = `t${10 + draw.int(90)}`;
    const hours = draw.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const names = draw.shuffle(Array.from({ length: 90 }, (_, i) => `f${10 + i}`));
    this.flights = [0, 1, 2].map((i) => ({ name: names[i]!, hours: hours[i]! }));
    return this.wantsToCancel ? `${this.person} cancels a trip` : `${this.person} flies from ${this.from} to ${this.to}`;
  }

  /**
   * Looks up a customer.
   * @param name the customer's name
   */
  customer(name: string): string {
    if (name !== this.person) throw new Error('no such customer');
    this.knowsUser = true;
    return `customer ${this.user}`;
  }

  /**
   * Lists the flights between two cities, with their hours.
   * @param from a city
   * @param to another city
   */
  search(from: string, to: string): string {
    if (from !== this.from || to !== this.to) throw new Error('no flights');
    this.knowsFlights = true;
    return this.flights.map(({ name, hours }) => `${name} takes ${hours}`).join(' ');
  }

  /**
   * Looks up the trip that a customer has booked.
   * @param customer the customer's number
   */
  booked(customer: string): string {
    if (customer !== this.user) throw new Error('no such customer');
    if (!this.wantsToCancel) return 'nothing booked';
    this.knowsTrip = true;
    return `trip ${this.trip}`;
  }

  /**
   * Books a flight for a customer. This ends the episode.
   * @param flight the flight
   * @param customer the customer's number
   */
  book(flight: string, customer: string): string {
    if (!this.flights.some(({ name }) => name === flight)) throw new Error('no such flight');
    if (customer !== this.user) throw new Error('no such customer');
    this.done = true;
    this.helped = !this.wantsToCancel && flight === this.shortest();
    return 'booked';
  }

  /**
   * Cancels a trip. This ends the episode.
   * @param trip the number of the trip
   */
  cancel(trip: string): string {
    if (trip !== this.trip) throw new Error('no such trip');
    this.done = true;
    this.helped = this.wantsToCancel;
    return 'cancelled';
  }

  getReward() {
    return { helped: this.helped ? 1 : 0, looked: this.knowsUser ? 1 : 0 };
  }

  expert() {
    if (!this.knowsUser) return { tool: 'customer', arguments: { name: this.person } };
    if (this.wantsToCancel) {
      return this.knowsTrip
        ? { tool: 'cancel', arguments: { trip: this.trip } }
        : { tool: 'booked', arguments: { customer: this.user } };
    }
    if (!this.knowsFlights) return { tool: 'search', arguments: { from: this.from, to: this.to } };
    return { tool: 'book', arguments: { flight: this.shortest(), customer: this.user } };
  }

  private shortest(): string {
    return [...this.flights].sort((a, b) => a.hours - b.hours)[0]!.name;
  }
}

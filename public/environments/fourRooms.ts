import type { Task } from './environment.d.ts';

const ROOMS = ['hall', 'kitchen', 'cellar', 'garden', 'attic', 'stable', 'tower', 'library', 'chapel', 'bath'];

/** Find the key in one of four rooms, and open the door in another. */
export default class FourRooms {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 6;
  static weights = { opened: 1, found: 0.2 };

  private rooms: string[] = [];
  private here = '';
  private keyRoom = '';
  private doorRoom = '';
  private seen: string[] = [];
  private hasKey = false;
  done = false;

  reset({ draw }: Task): string {
    this.rooms = draw.shuffle(ROOMS).slice(0, 4);
    [this.keyRoom = '', this.doorRoom = ''] = draw.shuffle(this.rooms);
    return `Rooms ${this.rooms.join(' ')} ${this.enter(draw.pick(this.rooms))}`;
  }

  /**
   * Goes to a room and looks around.
   * @param room one of the rooms
   */
  go(room: string): string {
    if (!this.rooms.includes(room)) throw new Error('There is no such room');
    return this.enter(room);
  }

  /** Takes the key of this room. */
  take(): string {
    if (this.hasKey || this.here !== this.keyRoom) throw new Error('There is no key');
    this.hasKey = true;
    return 'You have the key';
  }

  /** Opens the door of this room, which ends the task. */
  open(): string {
    if (this.here !== this.doorRoom) throw new Error('There is no door');
    if (!this.hasKey) throw new Error('You have no key');
    this.done = true;
    return 'The door is open';
  }

  getReward() {
    return { opened: this.done ? 1 : 0, found: this.hasKey ? 1 : 0 };
  }

  /** The player's room, and whether the player has the key. Turns with the same state can be compared. */
  stateKey(): string {
    return `${this.here} ${this.hasKey ? 'with' : 'without'} key`;
  }

  /** Looks for the key and takes it, then looks for the door and opens it. */
  expert() {
    const go = (room: string) => ({ tool: 'go', arguments: { room } });
    const unseen = this.rooms.find((room) => !this.seen.includes(room)) ?? '';
    if (this.here === this.keyRoom && !this.hasKey) return { tool: 'take', arguments: {} };
    if (!this.hasKey) return go(this.seen.includes(this.keyRoom) ? this.keyRoom : unseen);
    if (this.here === this.doorRoom) return { tool: 'open', arguments: {} };
    return go(this.seen.includes(this.doorRoom) ? this.doorRoom : unseen);
  }

  private enter(room: string): string {
    this.here = room;
    this.seen.push(room);
    const key = room === this.keyRoom && !this.hasKey;
    return `${room} has ${key ? 'a key' : room === this.doorRoom ? 'a door' : 'nothing'}`;
  }
}

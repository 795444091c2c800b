import type { Policy } from '../model/policy.ts';
import { STAGES, type Stage, type UpdateTimes, type StageSpan } from '../domain/profile.ts';
import type { RunEvent } from '../wire/events.ts';
import type { Answer } from '../wire/questions.ts';

/** Follows a run from its events: where the time of its updates goes, and when it may be measured. */
export class RunMeter {
  /** Whether each stage of an update waits for the device. */
  fenced = false;
  private readonly now: () => number;
  private readonly clock: StageClock;
  private stage: Stage = 'other'; // of what is pulled next
  private midway = false; // in an update
  private countedFrom: number | null = null; // update after which kernels are counted
  private counted = 0; // updates since
  private asker: ((answer: Answer) => void) | null = null; // waits for the end of an update

  constructor(now: () => number) {
    this.now = now;
    this.clock = new StageClock(now);
  }

  /** Another run, or this one put back: it stands between two updates. */
  begin(): void {
    [this.midway, this.countedFrom, this.counted] = [false, null, 0];
    this.refuse('The run was restarted in the meantime.');
  }

  /** Before an event is pulled. */
  pulling(): void {
    this.clock.start();
    this.clock.enter(this.stage);
    this.midway = true;
  }

  /** After one was pulled, whatever it is. */
  pulled(): void {
    this.clock.enter('other');
  }

  /** Takes note of an event that was pulled and dealt with. After an update's metrics: its times, null for the first evaluation. */
  async hear(event: RunEvent, policy: Policy): Promise<UpdateTimes | null> {
    if (event.type === 'phase') this.stage = STAGES.find((name) => name === event.phase) ?? 'other';
    if (event.type === 'batch') this.stage = 'other'; // the rest is small: numbers, the monitor, the reward model
    if (event.type === 'running' || event.type === 'imitated') this.midway = false; // it stops between updates
    if (event.type !== 'metrics') return null;
    this.stage = 'other';
    this.midway = false;
    const times = this.clock.finish(event.update, this.fenced);
    if (this.countedFrom === null) {
      this.countedFrom = event.update;
      policy.tally(this.now);
    }
    this.counted = event.update - this.countedFrom;
    await this.measure(policy);
    return event.update > 0 ? { ...times, environment: 1000 * (event.values['time/environment'] ?? 0) } : null;
  }

  /** Call it when training pauses. A measurement that waits for the end of an update is refused if the run is paused within one. */
  async pause(policy: Policy | undefined): Promise<void> {
    this.clock.stop();
    if (this.midway) this.refuse('The run is paused within an update. Step one update, then measure.');
    else if (policy) await this.measure(policy);
  }

  /** Measures a profile when the current update has ended, or at once if none is running, and passes it to `tell`. A later call replaces an earlier one. */
  async ask(tell: (answer: Answer) => void, policy: Policy | undefined, pumping: boolean): Promise<void> {
    this.refuse('Another measurement was started in the meantime.');
    this.asker = tell;
    if (!policy) this.refuse('There is no run to measure. Run training first.');
    else if (!pumping) await this.pause(policy);
  }

  private refuse(message: string): void {
    this.asker?.({ kind: 'refused', message });
    this.asker = null;
  }

  private async measure(policy: Policy): Promise<void> {
    const { asker } = this;
    this.asker = null;
    if (!asker) return;
    if (this.counted === 0) {
      asker({ kind: 'refused', message: 'No update has finished yet. Train one first.' });
      return;
    }
    this.clock.stop();
    try {
      asker({ kind: 'profile', updates: this.counted, profile: await policy.profile(this.now) });
    } catch (error) {
      asker({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Gives every moment of a run to a stage, pauses left out. */
export class StageClock {
  private readonly now: () => number;
  private spans: StageSpan[] = [];
  private stage: Stage = 'other';
  private since: number | null = null; // null: stopped

  constructor(now: () => number) {
    this.now = now;
  }

  /** Time counts from now on. */
  start(): void {
    this.since ??= this.now();
  }

  /** Time stops counting. */
  stop(): void {
    this.close();
    this.since = null;
  }

  /** What follows belongs to `stage`. */
  enter(stage: Stage): void {
    if (stage === this.stage) return;
    this.close();
    this.stage = stage;
  }

  /** Ends an update: its spans, and the next one begins. */
  finish(update: number, fenced: boolean): Omit<UpdateTimes, 'environment'> {
    this.close();
    const spans = this.spans;
    this.spans = [];
    return { update, fenced, ms: spans.reduce((sum, { ms }) => sum + ms, 0), spans };
  }

  private close(): void {
    if (this.since === null) return;
    const now = this.now();
    const last = this.spans.at(-1);
    const touches = last?.stage === this.stage && last.start + last.ms === this.since;
    if (touches) this.spans[this.spans.length - 1] = { ...last, ms: now - last.start };
    else if (now > this.since) this.spans.push({ stage: this.stage, start: this.since, ms: now - this.since });
    this.since = now;
  }
}

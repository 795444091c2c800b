import type { Policy } from '../model/policy.ts';
import { STAGES, type Stage, type UpdateTimes, type StageSpan } from '../domain/profile.ts';
import type { RunEvent } from '../wire/commands.ts';
import type { Answer } from '../wire/questions.ts';

/** Records how the time of each update is spent, and decides when a profile may be measured. */
export class RunMeter {
  /** Whether each stage of an update waits for the device. */
  fenced = false;
  private readonly now: () => number;
  private readonly clock: StageClock;
  private stage: Stage = 'other'; // stage of the work until the next event
  private isWithinUpdate = false; // whether the run is within an update
  private countedFrom: number | null = null; // kernels are counted after this update
  private counted = 0; // number of updates in which kernels were counted
  private onProfile: ((answer: Answer) => void) | null = null; // gets the profile at the end of the update

  constructor(now: () => number) {
    this.now = now;
    this.clock = new StageClock(now);
  }

  /** Call it when another run begins, or the run returns to a checkpoint. The run is then between two updates. */
  reset(): void {
    [this.isWithinUpdate, this.countedFrom, this.counted] = [false, null, 0];
    this.refuse('The run was restarted in the meantime.');
  }

  /** Call it before an event is pulled. */
  beforePull(): void {
    this.clock.start();
    this.clock.enter(this.stage);
    this.isWithinUpdate = true;
  }

  /** Call it after an event of any type was pulled. */
  afterPull(): void {
    this.clock.enter('other');
  }

  /** Call it after the worker has handled the event. Returns an update's times at its metrics, else null, also at the first evaluation. */
  async noteEvent(event: RunEvent, policy: Policy): Promise<UpdateTimes | null> {
    if (event.type === 'phase') this.stage = STAGES.find((name) => name === event.phase) ?? 'other';
    if (event.type === 'batch') this.stage = 'other'; // what remains is short: metrics, the monitor, the reward model
    // the run can stop here, between updates
    if (event.type === 'running' || event.type === 'imitated') this.isWithinUpdate = false;
    if (event.type !== 'metrics') return null;
    this.stage = 'other';
    this.isWithinUpdate = false;
    const times = this.clock.finish(event.update, this.fenced);
    if (this.countedFrom === null) {
      this.countedFrom = event.update;
      policy.startProfile(this.now);
    }
    this.counted = event.update - this.countedFrom;
    await this.measure(policy);
    return event.update > 0 ? { ...times, environment: 1000 * (event.values['time/environment'] ?? 0) } : null;
  }

  /** Call it when training pauses. A measurement that waits for an update's end is refused if the run pauses within one. */
  async pause(policy: Policy | undefined): Promise<void> {
    this.clock.stop();
    if (this.isWithinUpdate) this.refuse('The run is paused within an update. Step one update, then measure.');
    else if (policy) await this.measure(policy);
  }

  /** Measures at the end of the current update, or at once if no events are being pulled. A later call replaces an earlier one. */
  async requestProfile(
    onAnswer: (answer: Answer) => void,
    policy: Policy | undefined,
    pumping: boolean,
  ): Promise<void> {
    this.refuse('Another measurement was started in the meantime.');
    this.onProfile = onAnswer;
    if (!policy) this.refuse('There is no run to measure. Run training first.');
    else if (!pumping) await this.pause(policy);
  }

  private refuse(message: string): void {
    this.onProfile?.({ kind: 'refused', message });
    this.onProfile = null;
  }

  private async measure(policy: Policy): Promise<void> {
    const { onProfile } = this;
    this.onProfile = null;
    if (!onProfile) return;
    if (this.counted === 0) {
      onProfile({ kind: 'refused', message: 'No update has finished yet. Train one first.' });
      return;
    }
    this.clock.stop();
    try {
      onProfile({ kind: 'profile', updates: this.counted, profile: await policy.profile(this.now) });
    } catch (error) {
      onProfile({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Measures the time of each stage of a run, without pauses. */
export class StageClock {
  private readonly now: () => number;
  private spans: StageSpan[] = [];
  private stage: Stage = 'other';
  private since: number | null = null; // null: stopped

  constructor(now: () => number) {
    this.now = now;
  }

  start(): void {
    this.since ??= this.now();
  }

  stop(): void {
    this.close();
    this.since = null;
  }

  /** Counts the following time as part of `stage`. */
  enter(stage: Stage): void {
    if (stage === this.stage) return;
    this.close();
    this.stage = stage;
  }

  /** Ends an update and returns its spans. The next update begins. */
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

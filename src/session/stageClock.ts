import type { Stage, StageSpan, UpdateTimes } from '../domain/profile.ts';

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

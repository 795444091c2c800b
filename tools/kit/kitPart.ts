import type { Outcome, ReportPart } from '../../src/domain/adapterReport.ts';

/** A part of the kit, and its time limit. */
export interface KitPart {
  readonly name: string;
  readonly seconds: number;
  readonly skipReason?: string; // why the part is not run on this adapter
}

/** The facts about the adapter that the first part finds; later parts depend on them. */
export interface AdapterFacts {
  readonly adapter: string;
  readonly software: boolean;
  readonly computesFloat16: boolean; // whether it has shader-f16, to compute in float16
}

/** The result of one part of the kit. */
export interface PartResult {
  readonly outcome: Outcome;
  readonly why: string;
  readonly numbers: unknown;
  readonly facts?: AdapterFacts;
}

/** Where parts run: in a process each, or in the pages of a browser. */
export interface PartRunner {
  /** Runs a part. `keep` takes what it has measured so far, in case the part doesn't end. */
  readonly run: (part: KitPart, keep: (numbers: unknown) => void) => Promise<PartResult>;
  /** Ends a part that has run longer than its limit, whatever it is doing. */
  readonly stop: () => Promise<void> | void;
}

const MAX_STOP_MS = 10_000; // a runner that can't even stop doesn't hold up the rest

/** Runs a part until it ends or its time is over. Never throws: a part that throws has crashed. */
export async function runLimited(
  part: KitPart,
  runner: PartRunner,
  now: () => number,
): Promise<ReportPart & Pick<PartResult, 'facts'>> {
  const began = now();
  let kept: unknown = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const after = (ms: number) => new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  const timedPart = (found: PartResult) => ({ name: part.name, seconds: (now() - began) / 1000, ...found });
  try {
    const running = runner.run(part, (numbers) => (kept = numbers));
    running.catch(() => undefined); // it may fail after its time was over
    const found = await Promise.race([running, after(1000 * part.seconds)]);
    clearTimeout(timer);
    if (found) return timedPart(found);
    await Promise.race([runner.stop(), after(MAX_STOP_MS)]);
    return timedPart({ outcome: 'timed out', why: `It took longer than ${part.seconds} s.`, numbers: kept });
  } catch (error) {
    return timedPart({
      ...{ outcome: 'crashed', numbers: kept },
      why: (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '',
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs parts one after another. `onPart` gets each result at once, so that it can be written down. A part gets at most
 * the rest of `totalSeconds`; parts for which no time is left are not run.
 */
export async function runParts(
  parts: readonly KitPart[],
  runner: PartRunner,
  onPart: (part: ReportPart) => Promise<void>,
  { now, totalSeconds }: { readonly now: () => number; readonly totalSeconds: number },
): Promise<void> {
  const end = now() + 1000 * totalSeconds;
  for (const part of parts) {
    const left = Math.floor((end - now()) / 1000);
    const why = part.skipReason ?? (left > 0 ? '' : `No time was left: all parts together have ${totalSeconds} s.`);
    if (why !== '') {
      await onPart({ name: part.name, outcome: 'not run', seconds: null, why, numbers: null });
      continue;
    }
    const { facts: _, ...found } = await runLimited({ ...part, seconds: Math.min(part.seconds, left) }, runner, now);
    await onPart(found);
  }
}

import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { type GpuPolicy, openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { type PresetName, PRESETS } from '../../src/config/presets.ts';
import type { Host } from '../../src/session/host.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import type { PartResult } from './kitPart.ts';

const SEED = 7;
const LOSS_COUNT = 3;
const UPDATES_BEFORE_LOSS = 2;
const MAX_REPORT_MS = 30_000; // time within which the loss of a device must be reported

const isPreset = (name: string): name is PresetName => Object.hasOwn(PRESETS, name);

function configOf(preset: string, updates: number, evalTasks: number): RunConfig {
  if (!isPreset(preset)) throw new Error(`There is no preset ${preset}.`);
  return parseConfig({ ...PRESETS[preset].set, backend: 'gpu', seed: SEED, updates, evalTasks });
}

/**
 * Pulls events until `update` is done. `onMetrics` gets the metrics of each update. Throws if the run reports an error.
 */
async function trainUntil(
  session: Session,
  update: number,
  onMetrics: (values: Metrics) => void = () => undefined,
): Promise<void> {
  for (;;) {
    const next = await session.events.next();
    if (next.done) throw new Error(`The run ended before update ${update}.`);
    const event = next.value;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type !== 'metrics') continue;
    onMetrics(event.values);
    if (event.update >= update) return;
  }
}

/** Trains a preset from its shipped weights on the GPU. It passes if the metrics of all updates are finite. */
export async function presetRun(host: Host, preset: string, quick: boolean): Promise<PartResult> {
  const updates = quick ? 3 : 20;
  const config = configOf(preset, updates, quick ? 32 : 128);
  const began = performance.now();
  const session = await openSession(config, host, () => undefined);
  const readyMs = performance.now() - began;
  const metricsByUpdate: Metrics[] = [];
  await trainUntil(session, updates, (values) => metricsByUpdate.push(values));
  const nonFinite = metricsByUpdate
    .flatMap((values) => Object.entries(values))
    .filter(([, value]) => !Number.isFinite(value));
  const times = metricsByUpdate.flatMap((values) => values['time/update'] ?? []).sort((a, b) => a - b);
  const medianMs = 1000 * (times[Math.floor(times.length / 2)] ?? NaN);
  const last = <K extends keyof Metrics>(name: K) =>
    metricsByUpdate.findLast((values) => values[name] !== undefined)?.[name] ?? null;
  const heldOut = last('eval/success');
  const hash = await session.parametersHash();
  const { adapter, kind } = session.policy.backend;
  session.dispose();
  const summary = `${updates} updates, ${medianMs.toFixed(0)} ms each, ready after ${readyMs.toFixed(0)} ms; success on evaluated tasks ${heldOut?.toFixed(3) ?? 'not measured'}`;
  const names = [...new Set(nonFinite.map(([name]) => name))].join(', ');
  return {
    outcome: nonFinite.length === 0 && kind === 'gpu' ? 'passed' : 'failed',
    why:
      kind !== 'gpu' ? `It ran on ${adapter}, not on the GPU.` : nonFinite.length === 0 ? '' : `Not finite: ${names}.`,
    numbers: { summary, updates, medianMs, readyMs, heldOut, parametersHash: hash },
  };
}

/**
 * Loses the device in the middle of an update. It passes if each loss is reported in time, the run does not go on to
 * its end all the same, and a new session continues from the last checkpoint with the same weights.
 */
export async function deviceLoss(given: Host, quick: boolean): Promise<PartResult> {
  const toldMs: number[] = [];
  const recoveredMs: number[] = [];
  const problems: string[] = [];
  for (let loss = 0; loss < (quick ? 1 : LOSS_COUNT); loss++) {
    let lose: () => void = () => undefined;
    let reportLoss: (message: string) => void = () => undefined;
    const lossMessage = new Promise<string>((resolve) => (reportLoss = resolve));
    const host: Host = {
      ...given,
      openGpuPolicy: async (offered, spec, options) => {
        const policy: GpuPolicy = await openGpuPolicy(offered, spec, {
          ...options,
          onLost: (message) => reportLoss(message),
        });
        lose = policy.loseDevice;
        return policy;
      },
    };
    const config = configOf('number-hunt', 50, 16);
    const session = await openSession(config, host, () => undefined);
    await trainUntil(session, UPDATES_BEFORE_LOSS);
    const checkpoint = await session.checkpoint();
    const hash = await session.parametersHash();
    const continued = trainUntil(session, config.updates).then(
      () => 'finished',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    await new Promise((resolve) => setTimeout(resolve, 40 + 130 * loss));
    const began = performance.now();
    lose();
    const timeout = new Promise<null>((resolve) => setTimeout(() => resolve(null), MAX_REPORT_MS));
    const message = await Promise.race([lossMessage, timeout]);
    if (message === null) problems.push(`Loss ${loss + 1} was not told within ${MAX_REPORT_MS / 1000} s.`);
    toldMs.push(performance.now() - began);
    if ((await Promise.race([continued, timeout])) === 'finished')
      problems.push(`Loss ${loss + 1}: the run went on as if nothing was.`);
    session.dispose();
    const resumed = await openSession(checkpoint.config, host, () => undefined, { resumedFrom: checkpoint });
    if ((await resumed.parametersHash()) !== hash) problems.push(`Loss ${loss + 1}: the weights are others after it.`);
    await trainUntil(resumed, UPDATES_BEFORE_LOSS + 1);
    recoveredMs.push(performance.now() - began);
    resumed.dispose();
  }
  const most = (ms: readonly number[]) => Math.max(...ms).toFixed(0);
  const summary = `${toldMs.length} losses, each told within ${most(toldMs)} ms and an update further after ${most(recoveredMs)} ms at most`;
  return {
    outcome: problems.length === 0 ? 'passed' : 'failed',
    why: problems.join(' '),
    numbers: { summary, toldMs, recoveredMs },
  };
}

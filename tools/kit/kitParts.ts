import { ceilings } from '../../bench/ceilings.mjs';
import { measure } from '../../bench/measure.mjs';
import { table } from '../../bench/table.mjs';
import { openGpu } from '../../src/gpu/device.ts';
import { KERNEL_SET_NAMES, kernelSetNamed } from '../../src/config/kernelChoice.ts';
import { checkAdvantages } from '../golden/goldenAdvantages.ts';
import { checkGolden, type GoldenLine } from '../golden/goldenCheck.ts';
import { parseGolden } from '../golden/goldenFixture.ts';
import type { Host } from '../../src/session/host.ts';
import type { AdapterFacts, KitPart, PartResult } from './kitPart.ts';
import { deviceLoss, presetRun } from './kitRuns.ts';

/** Where a part runs: Node or a page. */
export interface KitPlace {
  readonly gpu: GPU;
  readonly host: Host;
  readonly fixtures: readonly string[]; // names of the golden files
  readonly readFixture: (name: string) => Promise<Uint8Array<ArrayBuffer>>;
}

/** The presets that the kit trains: number hunt, a search in a graph, and sums. */
const KIT_PRESETS = ['number-hunt', 'multi-hop', 'calculator'] as const;
/** The names that --only takes. */
export const SELECTABLE_PARTS: readonly string[] = ['goldens', 'bench', 'preset', 'device loss'];

/**
 * The parts to run on an adapter. If none was found, the parts that any adapter would have, to list them as not run.
 */
export function kitParts(facts: AdapterFacts | null, quick: boolean): readonly KitPart[] {
  const minutes = (n: number) => 60 * n * (quick ? 1 : 2);
  return [
    ...goldenParts(facts, minutes(5), minutes(3)),
    { name: 'bench', seconds: minutes(quick ? 6 : 10) },
    ...KIT_PRESETS.map((preset) => ({ name: `preset: ${preset}`, seconds: minutes(4) })),
    { name: 'device loss', seconds: minutes(3) },
  ];
}

/** The comparisons with reference numbers: of kernels, and of advantages. */
export function goldenParts(facts: AdapterFacts | null, seconds: number, advantageSeconds: number): readonly KitPart[] {
  return [
    ...KERNEL_SET_NAMES.map((choice) => ({ name: `goldens: ${choice}`, seconds })),
    {
      ...{ name: 'goldens: f16', seconds },
      ...(facts && !facts.computesFloat16 && { skipReason: 'The adapter has no shader-f16.' }),
    },
    { name: 'goldens: advantages', seconds: advantageSeconds },
  ];
}

/** Runs a part in this process or page. */
export async function runPart(name: string, quick: boolean, place: KitPlace): Promise<PartResult> {
  const { gpu, host } = place;
  const [kind = '', detail = ''] = name.split(': ');
  switch (kind) {
    case 'adapter':
      return adapter(gpu);
    case 'goldens':
      return goldens(place, detail);
    case 'products':
      return products(gpu);
    case 'bench':
      return bench(gpu, quick);
    case 'preset':
      return presetRun({ ...host, gpu }, detail, quick);
    case 'device loss':
      return deviceLoss({ ...host, gpu }, quick);
    default:
      return crashed(`There is no part ${name}.`);
  }
}

export const crashed = (why: string): PartResult => ({ outcome: 'crashed', why, numbers: null });

async function adapter(given: GPU): Promise<PartResult> {
  const gpu = await openGpu(given);
  const features = [...gpu.device.features].sort();
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup } = gpu.device.limits;
  const limits = { maxBufferSize, maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup };
  const { adapter: adapterName, identity, lanes, software } = gpu;
  const summary = `${adapterName}, subgroups of ${lanes}, ${features.includes('shader-f16') ? 'f16' : 'no f16'}`;
  return {
    ...{ outcome: 'passed', why: '' },
    numbers: { summary, identity, lanes, features, limits },
    facts: { adapter: adapterName, software, computesFloat16: features.includes('shader-f16') },
  };
}

async function goldens({ gpu, fixtures, readFixture }: KitPlace, what: string): Promise<PartResult> {
  const lines: (GoldenLine & { readonly file: string })[] = [];
  const text = what === 'advantages';
  const setApart: string[] = []; // at most one fixture, whose loss may jump; see below
  const files = fixtures.filter((file) => file.endsWith(text ? '.json' : '.safetensors'));
  for (const file of files) {
    const bytes = await readFixture(file);
    const options = what === 'f16' ? { storage: 'f16' as const } : { kernels: kernelSetNamed(text ? 'plain' : what) };
    const checked = text
      ? await checkAdvantages(gpu, new TextDecoder().decode(bytes), file)
      : await checkGolden(gpu, parseGolden(file, bytes.buffer), options);
    // In float16 a token whose ratio lies within rounding of a clip bound may be clipped or not, and the loss jumps
    // there.
    const hasJump = what === 'f16' && setApart.length === 0 && checked.some(isClipJump);
    if (hasJump) setApart.push(file);
    const compared = hasJump ? checked.filter(({ group }) => !/^(?:policy|adamw)/.test(group)) : checked;
    lines.push(...compared.map((line) => ({ ...line, file })));
  }
  if (lines.length === 0) return crashed('There is no fixture in the kit.');
  const share = ({ error, bound }: GoldenLine) => (Number.isNaN(error) ? Infinity : error / bound);
  const worst = lines.reduce((a, b) => (share(b) > share(a) ? b : a));
  const failures = lines.filter((line) => !(line.error <= line.bound));
  const lineText = ({ file, group, error, bound }: (typeof lines)[number]) =>
    `${file} ${group}: ${error.toExponential(1)} of ${bound.toExponential(1)} allowed`;
  return {
    outcome: failures.length === 0 ? 'passed' : 'failed',
    why: failures.length === 0 ? '' : `${failures.length} of ${lines.length} out of bounds, worst ${lineText(worst)}.`,
    numbers: {
      summary: `${lines.length - failures.length} of ${lines.length} within bounds, closest ${lineText(worst)}${setApart.map((file) => `; ${file}: a token at a clip edge flipped, so its loss is not compared`).join('')}`,
      setApart,
      checked: lines.length,
      outOfBounds: failures,
      worst,
    },
  };
}

/** Whether the clip fraction has the largest error of its group, and the error is out of bounds. */
const isClipJump = ({ worst, error, bound }: GoldenLine) => worst === 'clip_fraction' && error > bound;

/** How fast products, copies, dispatches and read-backs are at best. */
async function products(gpu: GPU): Promise<PartResult> {
  const top = await ceilings(gpu);
  const bySize = Object.entries(top.productsByEdge).map(([edge, gflops]) => `${edge}³ ${gflops.toFixed(0)}`);
  const sets = Object.entries(top.matmulGflops).map(([name, gflops]) => `${name} ${gflops.toFixed(0)}`);
  const summary = `GFLOP/s: ${[...sets, ...bySize].join(', ')}; copy ${top.copyGBps.toFixed(0)} GB/s, dispatch ${top.dispatchUs.toFixed(1)} µs, read-back ${top.readbackUs.toFixed(0)} µs`;
  return { outcome: 'passed', why: '', numbers: { summary, ...top } };
}

async function bench(gpu: GPU, quick: boolean): Promise<PartResult> {
  const only = quick ? ['W1', 'G1', 'U1'] : ['W1', 'W2', 'W3', 'G1', 'U1', 'U2', 'U3'];
  const result = await measure(gpu, { seconds: quick ? 2 : 10, storage: 'f32', only });
  const { W1, G1 } = result.workloads;
  const speed = (workload: typeof W1) =>
    workload ? `${workload.tokensPerSecond.toFixed(0)} tokens/s` : 'not measured';
  const summary = `${result.ceilings.bestMatmulGflops.toFixed(1)} GFLOP/s at best, ${result.ceilings.copyGBps.toFixed(1)} GB/s; W1 ${speed(W1)}, G1 ${speed(G1)}`;
  return { outcome: 'passed', why: '', numbers: { summary, ...result, text: table('kit', result) } };
}

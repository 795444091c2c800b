import type { Page } from 'playwright';

const INPUTS = ['keydown', 'click', 'wheel'] as const;

/** Begins to note long tasks and, for every key pressed, click and turn of the wheel, or what else is named, the time to the paint after it. */
export async function watch(page: Page, inputs: readonly (keyof WindowEventMap)[] = INPUTS): Promise<void> {
  await page.evaluate((noting) => {
    const seen = { tasks: [] as number[], paints: [] as number[] };
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((e) => e.duration))).observe({
      type: 'longtask',
    });
    const note = ({ timeStamp }: Event) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => seen.paints.push(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    for (const input of noting) addEventListener(input, note, { capture: true, passive: true });
    Object.assign(window, { seen });
  }, inputs);
}
/** What was noted since the last call: the longest task and the 95th percentile of input to paint, in ms. */
export async function noted(
  page: Page,
): Promise<{ readonly task: number; readonly paint: number; readonly inputs: number }> {
  const { tasks, paints } = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: { tasks: number[]; paints: number[] } };
    return { tasks: seen.tasks.splice(0), paints: seen.paints.splice(0) };
  });
  const sorted = paints.sort((a, b) => a - b);
  return { task: Math.max(0, ...tasks), paint: sorted[Math.floor(0.95 * sorted.length)] ?? NaN, inputs: sorted.length };
}
/** The longest task of the page's main thread in a trace, in ms of the processor's time: other work on the machine lengthens it less. */
export function longestTask(trace: Buffer): number {
  interface TraceEvent {
    readonly ph: string;
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    readonly tdur?: number; // µs of the thread
    readonly args?: { readonly name?: string };
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const main = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(thread),
  );
  const tasks = traceEvents.flatMap((event) =>
    event.name === 'RunTask' && main.has(thread(event)) && event.tdur !== undefined ? [event.tdur / 1000] : [],
  );
  if (tasks.length === 0) throw new Error('the trace holds no task of the page');
  return tasks.reduce((longest, task) => Math.max(longest, task), 0);
}
/** The least of some times: the one that other work lengthened least. */
export const least = (list: readonly number[]) => Math.min(...list);
/** Times as they are printed. */
export const rounded = (list: readonly number[]) => list.map((x) => x.toFixed(0)).join(', ');

/** Prints a time beside what it should stay under: benchmarks report, and judge nothing. */
export function report(what: string, ms: number, aim: number): void {
  console.log(`${what}: ${ms.toFixed(0)} ms, aim ${aim} ms${ms <= aim ? '' : ', MISSED'}`);
}

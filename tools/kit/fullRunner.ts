import { chooseCheckpoint, choosePreset, timeUpdates } from '../../bench/pageRun.mjs';
import { spread } from '../../bench/timing.mjs';
import type { KitBrowser } from './kitBrowser.ts';
import { goldenParts } from './kitParts.ts';
import type { AdapterFacts, KitPart, PartResult, PartRunner } from './kitPart.ts';

/** What is measured in turns: an engine of this project or another, and whether it has a page of its own. */
export interface Contestant {
  readonly name: string; // as the table has it
  readonly engine: string | null; // the address of the script with its `update` and `open`; null: an engine by others
  readonly peer: string | null; // the address of the bundle of another engine
  readonly page: string | null; // the address of its built page
}

interface FullOptions {
  readonly contestants: readonly Contestant[];
  readonly fixtures: readonly string[];
  readonly quick: boolean;
  readonly withModel: boolean; // whether the server has a checkpoint's file
}

const SIZES = ['W1', 'W2', 'W3'] as const;
const UPDATES = ['U1', 'U2', 'U3'] as const;
/** The names of a full run's own parts. */
export const FULL_PARTS: readonly string[] = [...SIZES, 'G1', 'products', 'number hunt', ...UPDATES, 'SmolLM2'];
const HUNT_UPDATES = 160; // as the preset has it
/** The script in whose page parts run that only this project has. */
const CHECKS = '/this/pageChecks/bundle.js';
/** Limits are for a GPU; software gets so many times as long. */
const SOFTWARE_FACTOR = 8;
const SETUP_SECONDS = 40; // for an engine to compile and take its first step
const SLOT_SECONDS = 10;
const RUN_SECONDS = 60; // for a run of the built page

/** The parts of a full run, the most wanted first: a machine that is lent may be taken away. */
export function fullParts(facts: AdapterFacts, quick: boolean, withModel: boolean): readonly KitPart[] {
  const seconds = (n: number) => n * (facts.software ? SOFTWARE_FACTOR : 1);
  const [sizes, updates] = quick ? [SIZES.slice(0, 1), UPDATES.slice(0, 1)] : [SIZES, UPDATES];
  return [
    ...sizes.map((name) => ({ name, seconds: seconds(90) })),
    { name: 'G1', seconds: seconds(75) },
    { name: 'products', seconds: seconds(30) },
    { name: 'number hunt', seconds: seconds(75) },
    {
      ...{ name: 'SmolLM2', seconds: seconds(150) },
      ...(!withModel && { skipReason: 'No checkpoint was given. Name its GGUF file with --model.' }),
    },
    ...goldenParts(facts, seconds(60), seconds(30)),
    ...updates.map((name) => ({ name, seconds: seconds(45) })),
  ];
}

/** Runs the parts of a full run in the pages of one browser. */
export function fullRunner(browser: KitBrowser, options: FullOptions): PartRunner {
  const { contestants, fixtures, quick } = options;
  const check = (name: string) => browser.call<PartResult>('checks', CHECKS, 'check', name, quick, fixtures);
  const trees = contestants.filter(({ page }) => page !== null);
  let factor = 1;
  return {
    run: async ({ name }, keep) => {
      const turns = { browser, quick, keep, factor };
      if (name === 'adapter') {
        const found = await adapter(browser, check);
        if (found.facts?.software !== false) factor = SOFTWARE_FACTOR;
        return found;
      }
      if (name === 'number hunt' || name === 'SmolLM2') return pageRuns(name, trees, turns);
      if (UPDATES.some((each) => each === name)) return updatesInTurns(name, trees, turns);
      if (name === 'G1' || SIZES.some((each) => each === name)) return slotsInTurns(name, contestants, turns);
      return check(name);
    },
    stop: () => browser.kill(),
  };
}

/** Finds the adapter: the machine's GPU, otherwise a software adapter. */
async function adapter(browser: KitBrowser, check: (name: string) => Promise<PartResult>): Promise<PartResult> {
  const onHardware = await check('adapter').catch(() => null);
  if (onHardware?.facts && !onHardware.facts.software) return onHardware;
  console.error('\nNo hardware adapter: all that follows runs on a software adapter, and says nothing about a GPU.');
  await browser.useHardware(false);
  return check('adapter');
}

/** What was measured of one contestant. */
interface Entry {
  readonly values: number[]; // ms of each repetition, or tokens a second
  readonly [detail: string]: unknown;
  error?: string;
}

/** One part's numbers: entries by contestant, and the cells of the table. */
class Entries {
  readonly #entries: Record<string, Entry> = {};
  readonly #cell: (median: number) => string;

  constructor(cell: (median: number) => string) {
    this.#cell = cell;
  }

  add(name: string, details: Readonly<Record<string, unknown>>): void {
    this.#entries[name] = { ...this.#entries[name], values: this.#entries[name]?.values ?? [], ...details };
  }

  value(name: string, values: readonly number[]): void {
    this.add(name, {});
    this.#entries[name]?.values.push(...values);
  }

  /** Does something for a contestant within its limit. A contestant that fails is left out from then on. */
  async attempt(name: string, seconds: number, what: () => Promise<void>): Promise<void> {
    if (this.#entries[name]?.error !== undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It took longer than ${seconds} s.`)), 1000 * seconds);
    });
    const running = what();
    running.catch(() => undefined);
    try {
      await Promise.race([running, over]);
    } catch (error) {
      this.add(name, { error: (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] });
    } finally {
      clearTimeout(timer);
    }
  }

  isLive(name: string): boolean {
    return this.#entries[name]?.error === undefined;
  }

  numbers() {
    const cells: Record<string, string> = {};
    const measured: Record<string, unknown> = {};
    for (const [name, entry] of Object.entries(this.#entries)) {
      const { values } = entry;
      const { best, median } = spread(values);
      measured[name] = { ...entry, ...(values.length > 0 && { median, least: best, most: Math.max(...values) }) };
      if (values.length > 0) cells[name] = this.#cell(median);
    }
    return {
      summary: Object.entries(cells).map(([name, cell]) => `${name} ${cell}`).join(', '), // prettier-ignore
      ...{ cells, measured },
    };
  }

  result(): PartResult {
    const failures = Object.entries(this.#entries).flatMap(([name, { error, values }]) =>
      error !== undefined ? [`${name}: ${error}`] : values.length === 0 ? [`${name}: not measured.`] : [],
    );
    return { outcome: failures.length === 0 ? 'passed' : 'failed', why: failures.join(' '), numbers: this.numbers() };
  }
}

const inMs = (ms: number) => `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
const perSecond = (tokens: number) => tokens.toLocaleString('en-US', { maximumFractionDigits: 0 });

/** The contestants in another order each round, so that none always follows the same one. */
const inOrder = <T>(all: readonly T[], round: number) => all.map((_, i) => all[(i + round) % all.length] as T);

interface Turns {
  readonly browser: KitBrowser;
  readonly quick: boolean;
  readonly keep: (numbers: unknown) => void;
  readonly factor: number; // of time limits
}
interface Slot {
  readonly ms: readonly number[];
  readonly loss: number;
  readonly tokens: number;
}

/** Training steps or drawing: every engine in a page of its own, slots in turns. */
async function slotsInTurns(
  id: string,
  contestants: readonly Contestant[],
  { browser, quick, keep, factor }: Turns,
): Promise<PartResult> {
  const draws = id === 'G1';
  const entries = new Entries(draws ? perSecond : inMs);
  const call = <T>({ name, engine, peer }: Contestant, fn: string, ...args: readonly unknown[]) =>
    browser.call<T>(
      `${name} ${id}`,
      engine ?? '/this/pageEngine/bundle.js',
      fn,
      ...args,
      ...(fn === 'open' ? [peer] : []),
    );
  const losses = new Map<string, { first: number; last: number; vocabulary: number }>();
  for (const each of contestants) {
    await entries.attempt(each.name, factor * SETUP_SECONDS, async () => {
      const { ms: _, ...opened } = await call<Slot & { readonly vocabulary: number }>(each, 'open', id);
      losses.set(each.name, { first: opened.loss, last: opened.loss, vocabulary: opened.vocabulary });
      entries.add(each.name, opened);
      await call<Slot>(each, 'slot', 0); // warm
    });
    if (!entries.isLive(each.name)) await browser.closePage(`${each.name} ${id}`);
    keep(entries.numbers());
  }
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    for (const each of inOrder(contestants, round)) {
      await entries.attempt(each.name, factor * SLOT_SECONDS, async () => {
        const { ms, loss, tokens } = await call<Slot>(each, 'slot', quick ? 0.2 : 1);
        const known = losses.get(each.name);
        if (known) known.last = loss;
        entries.value(each.name, draws ? ms.map((t) => (1000 * tokens) / t) : ms);
      });
      if (!entries.isLive(each.name)) await browser.closePage(`${each.name} ${id}`);
      keep(entries.numbers());
    }
  }
  for (const each of contestants) {
    const { first = NaN, last = NaN, vocabulary = NaN } = losses.get(each.name) ?? {};
    const begun = Math.log(vocabulary);
    const learns = last < 0.95 * first && Math.abs(first - begun) < 0.1 * begun;
    if (!draws) entries.add(each.name, { firstLoss: first, lastLoss: last, learns });
    if (!draws && entries.isLive(each.name) && !learns) {
      entries.add(each.name, { error: `It doesn’t learn: loss ${first.toFixed(2)} → ${last.toFixed(2)}.` });
    }
    await browser.closePage(`${each.name} ${id}`);
  }
  return entries.result();
}

/** Updates of the RL loop, of this tree and the one before. */
async function updatesInTurns(
  id: string,
  trees: readonly Contestant[],
  { browser, quick, keep, factor }: Turns,
): Promise<PartResult> {
  const entries = new Entries(inMs);
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const { name, engine } of inOrder(trees, round)) {
      await entries.attempt(name, factor * SETUP_SECONDS, async () => {
        const size = id.replace('U', 'W');
        const { updateMs, ...rest } = await browser.call<{ readonly updateMs: { readonly median: number } }>(
          ...[name, engine ?? '', 'update', size, quick ? 0.5 : 2] as const, // prettier-ignore
        );
        entries.value(name, [updateMs.median]);
        entries.add(name, { rest });
      });
      keep(entries.numbers());
    }
  }
  return entries.result();
}

/** Whole runs of the built page: number hunt to its end, or updates of adapters beside a checkpoint. */
async function pageRuns(
  part: string,
  trees: readonly Contestant[],
  { browser, quick, keep, factor }: Turns,
): Promise<PartResult> {
  const isHunt = part === 'number hunt';
  const updates = quick ? 3 : isHunt ? HUNT_UPDATES : 4;
  const entries = new Entries(
    isHunt ? (s) => `${s.toFixed(1)} s for ${updates} updates` : (s) => `${s.toFixed(1)} s an update`,
  );
  for (let round = 0; round < (quick || !isHunt ? 1 : 2); round++) {
    for (const { name, page: address } of inOrder(trees, round)) {
      const page = await browser.newPage();
      page.setDefaultTimeout(1000 * factor * SLOT_SECONDS); // a missing button is named before the run's time is over
      await entries.attempt(name, factor * RUN_SECONDS, async () => {
        const base = new URL(address ?? '', browser.base).href;
        const knobs = { Prompts: 4, 'Group size': 4, 'Imitation steps': quick ? 1 : 8 };
        const button = isHunt
          ? await choosePreset(page, base, 'number-hunt', 'gpu')
          : await chooseCheckpoint(page, base, '/model.gguf', 'search', knobs);
        const found = await timeUpdates(page, button, updates, { timeoutMs: 0 });
        entries.value(name, isHunt ? [found.last] : found.each);
        entries.add(name, { ...found, updates });
      });
      keep(entries.numbers());
      await Promise.race([page.context().close(), new Promise((resolve) => setTimeout(resolve, 2000))]);
    }
  }
  return entries.result();
}

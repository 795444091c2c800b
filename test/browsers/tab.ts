import { existsSync } from 'node:fs';

/** Keys or pointer moves as `input.performActions` of WebDriver BiDi and `/actions` of WebDriver take them. */
export interface Actions {
  readonly type: 'key' | 'pointer';
  readonly id: string;
  readonly actions: readonly Readonly<Record<string, string | number>>[];
}

/** One tab of a browser that a driver steers; only what both WebDriver and WebDriver BiDi can do. */
export interface Tab {
  /** As the browser names itself: “Firefox 153.7.0”. */
  readonly browser: string;
  /** Loads an address; resolves once the document is loaded. */
  readonly open: (url: string) => Promise<void>;
  /** What an expression is in the page, awaited; plain data. Rejects with the page's own message. */
  readonly value: (expression: string) => Promise<unknown>;
  readonly act: (actions: Actions) => Promise<void>;
  /** Gives files to the first `<input type="file">` that a selector finds. */
  readonly choose: (selector: string, file: string) => Promise<void>;
  /** What is in sight, as PNG. */
  readonly picture: () => Promise<Buffer>;
  readonly close: () => Promise<void>;
}

/** A program that is missing: tests that need it are skipped, and say so. */
export class MissingProgramError extends Error {
  override readonly name = 'MissingProgramError';
}

/** A program at the path that an environment variable holds, or at the first place where one is; undefined where none is. Throws MissingProgramError where the variable's path is wrong. */
export function installed(variable: string, places: readonly string[]): string | undefined {
  const named = process.env[variable];
  if (named === undefined || named === '') return places.find((place) => existsSync(place));
  if (existsSync(named)) return named;
  throw new MissingProgramError(`${variable}=${named} does not exist`);
}

/** The places of a program on `PATH`, first to last. */
export function onPath(name: string): readonly string[] {
  return (process.env['PATH'] ?? '').split(':').map((folder) => `${folder}/${name}`);
}

/** What a function returns in the page for plain arguments. It may use nothing from around it. */
export async function run<A extends readonly unknown[], T>(
  tab: Tab,
  script: (...args: A) => T | Promise<T>,
  ...args: A
): Promise<T> {
  return (await tab.value(`(${String(script)})(...${JSON.stringify(args)})`)) as T;
}

/** Waits until a function returns true in the page. Throws, with what the page shows, after `timeout` ms. */
export async function until<A extends readonly unknown[]>(
  tab: Tab,
  what: string,
  timeout: number,
  script: (...args: A) => boolean | Promise<boolean>,
  ...args: A
): Promise<void> {
  const end = Date.now() + timeout;
  while (!(await run(tab, script, ...args))) {
    if (Date.now() > end) {
      const shown = await run(tab, () => document.body.innerText.slice(0, 10_000));
      throw new Error(`${tab.browser}: not after ${timeout} ms: ${what}. The page shows: ${shown}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Waits for a button or link by its name, in an area of the page, and presses it with the mouse, where it is on top. */
export async function press(tab: Tab, name: string, area = 'body'): Promise<void> {
  const find = (wanted: string, within: string) => {
    const all = [...document.querySelectorAll<HTMLElement>(`${within} :is(button, a)`)];
    const nameOf = (e: HTMLElement) => (e.ariaLabel ?? e.textContent).trim();
    const found = all.find((e) => nameOf(e) === wanted && e.getClientRects().length > 0 && !e.matches(':disabled'));
    if (!found) return null;
    found.scrollIntoView({ block: 'nearest' });
    const { left, right, top, bottom } = found.getBoundingClientRect();
    const [x, y] = [Math.round((left + right) / 2), Math.round((top + bottom) / 2)];
    return found.contains(document.elementFromPoint(x, y)) ? { x, y } : null;
  };
  const end = Date.now() + 60_000;
  let at = await run(tab, find, name, area);
  for (let before: typeof at = null; at === null || at.x !== before?.x || at.y !== before.y;) {
    if (Date.now() > end) throw new Error(`${tab.browser}: no “${name}” to press`);
    await new Promise((resolve) => setTimeout(resolve, 250));
    [before, at] = [at, await run(tab, find, name, area)]; // it moves while more of the page arrives
  }
  const actions = [
    { type: 'pointerMove', ...at },
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ];
  await tab.act({ type: 'pointer', id: 'mouse', actions });
}

import path from 'node:path';
import { expect } from 'vitest';
import { PLACES, type Route, SCREENS, siblingViews } from '../../src/page/address/screens.ts';
import { press, run, type Tab, until } from './tab.ts';

/** A rollout file of verl with three turns. */
const FILE = path.join(import.meta.dirname, '../fixtures/rollouts/verl-v1/2.jsonl');
/** Ten updates of a small model take minutes on a software adapter. */
const PATIENCE = 300_000;

const snapshot = (tab: Tab) => run(tab, () => window.__playground!.snapshot());
const checksum = (tab: Tab) => run(tab, () => window.__playground!.checksum());

/** Goes to a screen as a link does, and waits until it is there. */
async function goTo(tab: Tab, screen: Route): Promise<void> {
  const { place, label } = SCREENS[screen];
  await press(tab, PLACES[place].label, '.screens');
  if (siblingViews(screen).length > 1) await press(tab, label, `.views[data-place="${place}"]`);
  const there = (name: string) => document.querySelector(`.lab[data-screen="${name}"] main:not([aria-busy])`) !== null;
  await until(tab, `the screen ${screen}`, 60_000, there, screen);
}

/** Loads the page with the number hunt; everything that it complains of from then on is found by `complaints`. */
async function load(tab: Tab, address: string): Promise<void> {
  await tab.open(address);
  await until(tab, 'a page that listens', 60_000, () => window.__playground !== undefined);
  await run(tab, () => {
    const list: string[] = [];
    Object.assign(window, { complaints: list });
    window.addEventListener('error', (event) => list.push(event.message));
    window.addEventListener('unhandledrejection', (event) => list.push(String(event.reason)));
    const { error } = console;
    console.error = (...args: unknown[]) => {
      list.push(args.map(String).join(' '));
      error(...args);
    };
  });
}
const complaints = (tab: Tab) => run(tab, () => (window as unknown as { complaints: string[] }).complaints);

/**
 * What people come for, as they do it, with the mouse: the page loads and trains ten updates, pauses, takes one step; after a reload
 * the run goes on with the weights it had; a file of rollouts opens; the agent answers.
 * @param show gets a picture of each stage
 */
export async function mainJob(
  tab: Tab,
  baseURL: string,
  backend: 'cpu' | 'gpu',
  show: (stage: string) => Promise<void>,
): Promise<void> {
  await load(tab, `${baseURL}#/lab?v=1&preset=number-hunt&seed=7&backend=${backend}`);
  await show('loaded');
  // cross-origin isolation, which threads need, must not fail on this browser's idea of the headers
  expect(await run(tab, () => crossOriginIsolated)).toBe(true);
  await press(tab, 'Run training');
  await until(tab, 'ten updates', PATIENCE, () => window.__playground!.snapshot().update >= 10);
  await press(tab, 'Pause');
  await until(tab, 'a pause', PATIENCE, () => !window.__playground!.snapshot().running);
  await show('trained');
  const trained = await snapshot(tab);
  expect(trained.problem).toBeNull();
  expect(trained.backend?.kind).toBe(backend);
  const { metrics } = trained;
  expect(Number.isFinite(metrics['actor/grad_norm']) && Number.isFinite(metrics['critic/score/mean'])).toBe(true);

  await press(tab, 'Step one update');
  const stepped = (n: number) => window.__playground!.snapshot().update === n;
  const update = trained.update + 1;
  await until(tab, 'one more update', PATIENCE, stepped, update);
  await until(tab, 'a save', PATIENCE, () => document.querySelector('[data-testid="saved"]')?.textContent === 'saved');
  const before = await checksum(tab);
  expect(await complaints(tab)).toEqual([]);

  // another query, as an address that differs behind the # only is not loaded anew
  await load(tab, `${baseURL}?again#/lab?v=1&preset=number-hunt&seed=7&backend=${backend}`);
  await press(tab, `Resume update ${update}`);
  await until(tab, 'the resumed run', PATIENCE, stepped, update);
  await until(tab, 'a run that is ready', PATIENCE, () => window.__playground!.snapshot().session === 'ready');
  expect(await checksum(tab)).toBe(before);
  await press(tab, 'Step one update');
  await until(tab, 'an update of the resumed run', PATIENCE, stepped, update + 1);
  expect(await checksum(tab)).not.toBe(before);

  await goTo(tab, 'rollouts');
  await tab.choose('main input[type="file"]', FILE);
  await until(tab, 'rollouts of the file', 60_000, () => document.querySelectorAll('[role="option"]').length > 0);
  await show('file');

  await goTo(tab, 'talk');
  await press(tab, 'Ask the agent');
  const answered = () => document.querySelectorAll('.voice[data-voice="now"] .token').length > 2;
  await until(tab, 'an answer of the agent', PATIENCE, answered);
  await show('talk');
  expect(await complaints(tab)).toEqual([]);
}

/**
 * A person's environment, from the editor to a run: the file that stands there on a first visit is checked, has no
 * fault, imitates until RL is started by a press, and trains three updates.
 * @param show gets a picture of each stage
 */
export async function environmentJob(
  tab: Tab,
  baseURL: string,
  language: 'typescript' | 'python',
  show: (stage: string) => Promise<void>,
): Promise<void> {
  await load(tab, `${baseURL}?${language}#/environment`);
  await until(tab, 'the editor', PATIENCE, () => document.querySelector('select[aria-label="Language"]') !== null);
  await run(
    tab,
    (value) => {
      const select = document.querySelector<HTMLSelectElement>('select[aria-label="Language"]')!;
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value')!.set!.call(select, value);
      select.dispatchEvent(new Event('change', { bubbles: true }));
    },
    language,
  );
  await press(tab, 'Check', '[data-testid="check"]');
  const sound = () => document.querySelector('[data-testid="verdict"][data-faults="0"]') !== null;
  await until(tab, 'a check without a fault', PATIENCE, sound);
  await show('checked');
  await press(tab, 'Train on it');
  const hasImitated = () => {
    const label = document.querySelector('[data-testid="imitation-curve"] [role="img"]')?.getAttribute('aria-label');
    return Number(/over (\d+) steps/.exec(label ?? '')?.[1] ?? 0) >= 20;
  };
  await until(tab, 'twenty steps of imitation', 2 * PATIENCE, hasImitated);
  await press(tab, 'Start RL now'); // all steps would take an hour in the slowest of these browsers
  await until(tab, 'three updates', PATIENCE, () => window.__playground!.snapshot().update >= 3);
  await press(tab, 'Pause');
  await until(tab, 'a pause', PATIENCE, () => !window.__playground!.snapshot().running);
  await show('trained-environment');
  const { problem, metrics, backend, applied } = await snapshot(tab);
  expect(problem).toBeNull();
  expect(backend?.kind).toBe('cpu');
  expect(applied?.imitationSteps).toBeGreaterThanOrEqual(20);
  expect(metrics['actor/grad_norm']).toBeGreaterThan(0);
  expect(metrics['eval/success']).toBeGreaterThan(0); // even random calls solve one task of six
  expect(await complaints(tab)).toEqual([]);
}

/** What only another engine can get wrong in how the page is drawn; plain data to compare. */
export async function drawn(tab: Tab): Promise<Readonly<Record<string, unknown>>> {
  return run(tab, () => {
    const [found] = document.querySelectorAll('.legend [data-kind="call"]');
    const { textDecorationLine, textDecorationStyle } = getComputedStyle(found!);
    const wide = [...document.querySelectorAll('html, main')].filter((e) => e.scrollWidth > e.clientWidth + 1);
    return { textDecorationLine, textDecorationStyle, scrollsSideways: wide.length };
  });
}

import type { Browser, BrowserContext, Disposable, Page } from 'playwright';
import { inject } from 'vitest';

/** A page and all it complained of. */
export interface Lab {
  readonly page: Page;
  readonly problems: string[];
  readonly scripts: Disposable[]; // run before the page's own, until the visit is over
}

const laidBy = new WeakMap<Browser, Map<string, Lab[]>>();
const idle = new WeakSet<BrowserContext>();

/** Whether the page of a context waits for its next visit. */
export const isIdle = (context: BrowserContext): boolean => idle.has(context);

/**
 * A page for a visit: one whose visit is over where there is one of the same `kind`, else one that `open` makes. In a used page the
 * browser has the site's code at hand, compiled: a visit takes half of the processor's time. To close the context of a page is to lay it
 * by, and the next visit finds nothing of the one before.
 */
export async function usedOrNew(browser: Browser, kind: string, open: () => Promise<Lab>): Promise<Lab> {
  let all = laidBy.get(browser);
  if (!all) laidBy.set(browser, (all = new Map<string, Lab[]>()));
  let same = all.get(kind);
  if (!same) all.set(kind, (same = []));
  const used = same.pop();
  if (used) {
    idle.delete(used.page.context());
    used.problems.splice(0);
    return used;
  }
  const lab = await open();
  const waiting = same;
  const context = lab.page.context();
  const end = context.close.bind(context);
  context.close = async () => {
    if (lab.page.isClosed()) return end();
    await clear(lab);
    idle.add(context);
    waiting.push(lab);
    return undefined;
  };
  return lab;
}

/** Ends what goes on in a page and its context and takes away what the site has stored; the page is left at a file of the same site. */
async function clear({ page, scripts }: Lab): Promise<void> {
  const context = page.context();
  for (const script of scripts.splice(0)) await script.dispose();
  await context.clearPermissions();
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const routed of [page, context]) await routed.unrouteAll({ behavior: 'ignoreErrors' });
  const { origin } = new URL(inject('baseURL')); // the page may be one that shows the site in a frame
  await page.goto(`${origin}/manifest.webmanifest`);
  await page.evaluate(() => sessionStorage.clear());
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
}

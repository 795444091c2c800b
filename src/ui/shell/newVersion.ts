import { create } from 'zustand';

/** Whether this page's server has a newer build, so that parts of this one are gone. */
export const useNewVersion = create<{ readonly isThere: boolean }>()(() => ({ isThere: false }));

/** How browsers and Vite word it when a script or a style sheet of the page does not load. */
const LOAD_FAILURES =
  /unable to preload css|dynamically imported module|importing a module script failed|failed to load module script/i;

/** Whether a part of the page could not be loaded, as this error says. */
export const isLoadFailure = (error: unknown): boolean =>
  LOAD_FAILURES.test(error instanceof Error ? error.message : String(error));

/** Whether this text of the page begins with another script than `own`, the address of the one that runs. */
const isOtherBuild = (html: string, own: string): boolean =>
  html.includes('type="module"') && !html.includes(`"${own}"`);

/** Asks the server whether it has another build by now, where a part of the page could not be loaded. A worker's script that does not load has no `error`. */
export async function noteFailure(error: unknown): Promise<void> {
  if ((error && !isLoadFailure(error)) || useNewVersion.getState().isThere) return;
  try {
    const own = document.querySelector('script[type="module"][src]')?.getAttribute('src');
    const response = await fetch(location.pathname, { cache: 'no-store' });
    if (own && response.ok && isOtherBuild(await response.text(), own)) useNewVersion.setState({ isThere: true });
  } catch {
    // offline: the part is missing for that reason
  }
}

/** Follows parts that fail to load wherever they are asked for. */
export function bindNewVersion(): void {
  addEventListener('vite:preloadError', ({ payload }) => void noteFailure(payload));
  addEventListener('unhandledrejection', ({ reason }) => void noteFailure(reason ?? 'no reason'));
}

import { create } from 'zustand';

/** Whether the server has a newer build, so that files of this one may be gone. */
export const useNewVersion = create<{ readonly isThere: boolean }>()(() => ({ isThere: false }));

/** The messages of browsers and Vite when a script or a style sheet of the page doesn't load. */
const LOAD_FAILURES =
  /unable to preload css|dynamically imported module|importing a module script failed|failed to load module script/i;

/** Whether an error means that a part of the page could not be loaded. */
export const isLoadFailure = (error: unknown): boolean =>
  LOAD_FAILURES.test(error instanceof Error ? error.message : String(error));

/** Whether the page's HTML loads another script than `ownScript`, the address of the script that runs now. */
const isOtherBuild = (html: string, ownScript: string): boolean =>
  html.includes('type="module"') && !html.includes(`"${ownScript}"`);

/**
 * Asks the server whether it has another build, if `error` means that a part of the page could not be loaded. An empty
 * `error` means that too: a worker whose script doesn't load reports no message.
 */
export async function noteFailure(error: unknown): Promise<void> {
  if ((error && !isLoadFailure(error)) || useNewVersion.getState().isThere) return;
  try {
    const ownScript = document.querySelector('script[type="module"][src]')?.getAttribute('src');
    const response = await fetch(location.pathname, { cache: 'no-store' });
    if (ownScript && response.ok && isOtherBuild(await response.text(), ownScript))
      useNewVersion.setState({ isThere: true });
  } catch {
    // offline, which is why the part didn't load
  }
}

export function bindNewVersion(): void {
  addEventListener('vite:preloadError', ({ payload }) => void noteFailure(payload));
  addEventListener('unhandledrejection', ({ reason }) => void noteFailure(reason ?? 'no reason'));
}

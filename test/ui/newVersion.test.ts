import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const OWN = './assets/index-abc123.js';
const page = (script: string) => `<!doctype html><script type="module" crossorigin src="${script}"></script>`;
const asked = vi.fn();
/** A page whose server answers so. */
const served = (answer: () => Promise<Response>) => {
  vi.stubGlobal('document', { querySelector: () => ({ getAttribute: () => OWN }) });
  vi.stubGlobal('location', { pathname: '/' });
  vi.stubGlobal('fetch', (...given: unknown[]) => {
    asked(...given);
    return answer();
  });
};
const failing = async (error: unknown) => {
  const { noteFailure, useNewVersion } = await import('../../src/page/browser/newVersion.ts');
  await noteFailure(error);
  return useNewVersion.getState().isThere;
};
beforeEach(() => {
  vi.resetModules();
  asked.mockClear();
});
afterEach(() => vi.unstubAllGlobals());

// as Chromium, Firefox, Safari and Vite word it, and a worker's script, which brings no words
const FAILURES = [
  new TypeError('Failed to fetch dynamically imported module: http://x/assets/Models-1.js'),
  new TypeError('error loading dynamically imported module: http://x/assets/Models-1.js'),
  new TypeError('Importing a module script failed.'),
  new Error('Unable to preload CSS for /assets/models-1.css'),
  'TypeError: Failed to fetch dynamically imported module: http://x/assets/adapters-1.js',
  undefined,
];

test.each(FAILURES)(
  '%s: a page that begins with another script is a new version, the same one is none',
  async (error) => {
    served(() => Promise.resolve(new Response(page('./assets/index-def456.js'))));
    expect(await failing(error)).toBe(true);
    vi.resetModules();
    served(() => Promise.resolve(new Response(page(OWN))));
    expect(await failing(error)).toBe(false);
  },
);

test('offline, an error page and any other error say nothing of a new version, and of the last the server is not asked', async () => {
  served(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(await failing(FAILURES[0])).toBe(false);
  served(() => Promise.resolve(new Response('no such page', { status: 404 })));
  expect(await failing(FAILURES[0])).toBe(false);
  served(() => Promise.resolve(new Response('sign in first'))); // a network that wants a password
  expect(await failing(FAILURES[0])).toBe(false);
  asked.mockClear();
  expect(await failing(new RangeError('Maximum call stack size exceeded'))).toBe(false);
  expect(asked).not.toHaveBeenCalled();
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keptText } from '../../src/page/browser/keptText.ts';

/** A storage of the browser with room for `room` characters. Its keys are properties, as in a browser. */
function storage(room = Infinity): Storage {
  const kept = new Map<string, string>();
  const methods = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => {
      const others = [...kept].filter(([name]) => name !== key);
      if (others.reduce((sum, [, text]) => sum + text.length, value.length) > room)
        throw new DOMException('full', 'QuotaExceededError');
      kept.set(key, value);
    },
    removeItem: (key: string) => kept.delete(key),
  };
  return new Proxy(methods, {
    ownKeys: () => [...kept.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  }) as unknown as Storage;
}

let local = storage();
/** A tab of the page. With the session of an earlier one, it is that tab after a reload. */
async function tab(session = storage()) {
  vi.resetModules();
  vi.stubGlobal('localStorage', local);
  vi.stubGlobal('sessionStorage', session);
  const { useEnvironment, ...store } = await import('../../src/page/environment/environmentStore.ts');
  const act = <T>(does: () => T): T => {
    vi.stubGlobal('sessionStorage', session);
    return does();
  };
  return {
    session,
    state: useEnvironment.getState,
    write: (text: string) => act(() => store.setText(text)),
    rename: (name: string) => act(() => store.renameFile(name)),
    link: (name: string, text: string) => act(() => store.openInEditor({ name, text }, true)),
    template: () => act(() => store.chooseLanguage('python')),
    drafts: () => (store.readDrafts(), useEnvironment.getState().drafts),
    texts: () => (store.readDrafts(), useEnvironment.getState().drafts.map(({ text }) => text)),
    open: (text: string) =>
      act(() => store.openDraft(useEnvironment.getState().drafts.find((each) => each.text === text)!)),
  };
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1e12 });
  local = storage();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('however many files arrive, what the person wrote stays and can be gone back to, after a reload too', async () => {
  const first = await tab();
  first.write('mine');
  for (let i = 0; i < 30; i++) first.link('guessTheWord.ts', `theirs ${i}`); // the name that the person's file has
  first.template();
  first.link('other.ts', 'mine'); // the same text is still the person's own
  first.link('last.ts', 'theirs');
  const later = await tab(first.session);
  expect(later.texts()).toEqual(['mine']); // texts that nobody changed here are no drafts
  expect(later.state().file.text).toBe('theirs');
  later.open('mine');
  expect(later.state().file).toMatchObject({ text: 'mine', byLink: false });
});

test('what a person changes in a linked file is theirs, and the next link does not replace it', async () => {
  const { link, write, texts } = await tab();
  link('a.ts', 'theirs');
  write('theirs, changed');
  link('a.ts', 'theirs');
  write('changed otherwise');
  link('a.ts', 'theirs');
  expect(texts().toSorted()).toEqual(['changed otherwise', 'theirs, changed']);
});

test('of several tabs none replaces what another wrote, whichever was opened or written first', async () => {
  const one = await tab();
  const two = await tab();
  one.write('one');
  const three = await tab(); // shows what `one` wrote
  expect(three.state().file.text).toBe('one');
  two.write('two');
  three.write('three');
  one.write('one, longer');
  const copy = await tab(one.session); // the tab was duplicated: both write the same version
  copy.write('copied');
  one.write('one, the longest');
  expect((await tab()).texts().toSorted()).toEqual(['copied', 'one, the longest', 'three', 'two']);
});

test('typing goes on in one version, also after a reload; after ten minutes another begins; ten of a name are kept', async () => {
  const one = await tab();
  for (const text of ['a', 'ab', 'abc']) one.write(text);
  const reloaded = await tab(one.session);
  reloaded.write('abcd');
  expect(reloaded.texts()).toEqual(['abcd']);
  for (let i = 1; i <= 12; i++) {
    vi.advanceTimersByTime(10 * 60_000);
    reloaded.write(`version ${i}`);
  }
  reloaded.rename('another.ts');
  vi.advanceTimersByTime(10 * 60_000);
  reloaded.write('of another name');
  const versions = Array.from({ length: 10 }, (_, i) => `version ${12 - i}`); // 12 is of the other name, too
  expect(reloaded.texts()).toEqual(['of another name', ...versions]);
});

test('a version that was gone back to stays as it is when it is changed', async () => {
  const { write, open, texts } = await tab();
  write('old');
  vi.advanceTimersByTime(10 * 60_000);
  write('new');
  open('old');
  vi.advanceTimersByTime(1);
  write('old, changed');
  expect(texts()).toEqual(['old, changed', 'new', 'old']);
});

test('the files that an older page stored become drafts, once, unless they are shipped', async () => {
  const file = { name: 'mine.ts', text: 'mine', byLink: true }; // may have been changed since
  const before = { name: 'before.py', text: 'before', byLink: false };
  local.setItem('rollout-playground-environment', keptText({ file, before }));
  const first = await tab();
  expect(first.texts().toSorted()).toEqual(['before', 'mine']);
  first.template();
  expect((await tab()).texts().toSorted()).toEqual(['before', 'mine']);
});

test('without room the newest text of each name is kept, and a text that is not stored is said to be', async () => {
  local = storage(2000);
  const { write, rename, texts, state } = await tab();
  rename('a.ts');
  write('first of a');
  rename('b.ts');
  vi.advanceTimersByTime(10 * 60_000);
  for (let i = 0; i < 9; i++) {
    write(`${i}`.repeat(200));
    vi.advanceTimersByTime(10 * 60_000);
  }
  expect(texts()[0]).toBe('8'.repeat(200));
  write('9'.repeat(3000));
  expect(state().isSaved).toBe(false);
  expect(texts()[0]).toBe('9'.repeat(3000)); // until the page is closed
});

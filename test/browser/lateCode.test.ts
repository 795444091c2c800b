import { expect, test } from 'vitest';
import { DEFAULTS } from '../../src/config/fields.ts';
import { downloadModel, useDownloads } from '../../src/page/models/downloads.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { bindKeyboard } from '../../src/page/shell/keyboard.ts';

test('M that is let go before the code for it has come holds no mask; held until then, it does', async () => {
  useLive.setState({ batchConfig: DEFAULTS, isExample: true });
  location.hash = '#/lab';
  const stop = bindKeyboard();
  const press = (type: 'keydown' | 'keyup') =>
    document.body.dispatchEvent(new KeyboardEvent(type, { key: 'm', bubbles: true }));
  press('keydown');
  press('keyup');
  const { isPreviewKeyDown: isKeyed } = await import('../../src/page/training/previewStore.ts');
  await new Promise((resolve) => setTimeout(resolve)); // the code has come: what waited for it has run
  expect(isKeyed()).toBe(false);
  press('keydown');
  await expect.poll(isKeyed).toBe(true);
  press('keyup');
  expect(isKeyed()).toBe(false);
  stop();
});

test('a model that is complete counts as kept before its download ends: it is not offered again in between', async () => {
  let answer: (event: MessageEvent) => void = () => undefined;
  Object.assign(globalThis, {
    Worker: class {
      set onmessage(hear: typeof answer) {
        answer = hear;
      }
      postMessage(): void {
        // fetches nothing
      }
    },
  });
  downloadModel({ id: 'a/model', address: '', revision: '', license: null, files: [] });
  const before = useDownloads.getState();
  expect(before.download?.id).toBe('a/model');
  const knownWhenEnded = new Promise<boolean>((resolve) => {
    useDownloads.subscribe(({ download, kept }) => download === null && resolve(kept !== before.kept));
  });
  answer(new MessageEvent('message', { data: { type: 'complete', id: 'a/model' } }));
  expect(await knownWhenEnded).toBe(true);
});

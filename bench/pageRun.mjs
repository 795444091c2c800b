// Runs of the built page, timed from the press of a button: presets, and adapters beside a checkpoint.

/** @typedef {import('playwright').Page} Page */
/** @typedef {{ told: unknown, first: number, each: number[], last: number, metrics: Readonly<Record<string, number>> }} PageRun
 *   s from the press to the first update and to the last; s of each update after the first */

/** Opens the page and chooses a preset; the run waits for its button. @param {Page} page @param {string} base @param {string} preset @param {string} backend */
export async function choosePreset(page, base, preset, backend) {
  await page.goto(`${base}#/lab`); // the start screen has other buttons
  await page.locator('.preset-door').click();
  await page.locator(`.preset-card[data-preset="${preset}"]`).click();
  await page.waitForFunction(() => location.hash.includes('&'));
  const chosen = await page.evaluate(() => location.hash);
  await page.goto('about:blank');
  await page.goto(`${base}${chosen.replace(/&backend=[^&]*/, '')}&backend=${backend}`);
  await page.waitForFunction(() => /** @type {any} */ (window).__playground !== undefined);
  const applied = await page.evaluate(() => /** @type {any} */ (window).__playground.snapshot().config.backend);
  if (applied !== backend) throw new Error(`bench: ${preset} runs on ${applied}, not on ${backend}.`);
  return page.getByRole('button', { name: 'Run training' });
}

/**
 * Opens the page and gives it a checkpoint's GGUF file to train beside; the run waits for its button.
 * @param {Page} page @param {string} base @param {string} file address of the file @param {string} task
 * @param {Readonly<Record<string, number>>} knobs by their labels
 */
export async function chooseCheckpoint(page, base, file, task, knobs) {
  await page.goto(`${base}#/train`);
  await page.waitForFunction(() => /** @type {any} */ (window).__playground !== undefined);
  await page.evaluate(async (address) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([await (await fetch(address)).blob()], 'checkpoint.gguf'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, file);
  const form = page.getByRole('region', { name: 'Train it' });
  await form.getByRole('combobox').selectOption({ label: task });
  for (const [label, value] of Object.entries(knobs)) await form.getByLabel(label).fill(String(value));
  return form.getByRole('button', { name: 'Train it' });
}

/**
 * Presses the button and waits for that many updates. An update begins and ends with its numbers in the page; what is loaded
 * and compiled, imitation and the evaluation before the first update are in the time to it.
 * @param {Page} page @param {{ click: () => Promise<void> }} button @param {number} updates
 * @param {{ timeoutMs: number, onUpdate?: (update: number) => void }} how
 * @returns {Promise<PageRun>}
 */
export async function timeUpdates(page, button, updates, { timeoutMs, onUpdate }) {
  await button.click();
  const began = performance.now();
  /** @type {number[]} */
  const at = [];
  for (let update = 1; update <= updates;) {
    const handle = await page.waitForFunction(
      (n) => {
        const { update: now, problem } = /** @type {any} */ (window).__playground?.snapshot() ?? {};
        if (problem) throw new Error(JSON.stringify(problem));
        return now >= n ? now : 0;
      },
      update,
      { timeout: timeoutMs, polling: 20 },
    );
    const now = Math.min(updates, await handle.jsonValue());
    const s = (performance.now() - began) / 1000;
    for (; update <= now; update++) {
      at.push(s);
      onUpdate?.(update);
    }
  }
  const { backend, metrics } = await page.evaluate(() => {
    const { backend, metrics } = /** @type {any} */ (window).__playground.snapshot();
    return { backend, metrics };
  });
  const each = at.slice(1).map((s, i) => s - (at[i] ?? NaN));
  return { told: backend, first: at[0] ?? NaN, each, last: at.at(-1) ?? NaN, metrics };
}

import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  axe,
  checksum,
  framesLater,
  handToClass,
  launch,
  loaded,
  PHONE,
  read,
  stepped,
  tooSmall,
  visitStill,
} from './lab.ts';

const SMALL = 'v=1&seed=7&prompts=4&groupSize=4&evalTasks=16&backend=cpu';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const chapter = (page: Page, title: string) =>
  page.getByRole('navigation', { name: 'Chapters' }).getByRole('link', { name: title }).click();
/** Predicts, does an exercise, and waits for its verdict; returns the words of it. */
async function carryOut(page: Page, exercise: string, prediction: string, task: string): Promise<string> {
  const panel = page.getByTestId(`exercise-${exercise}`);
  const button = panel.getByRole('button', { name: task });
  await expect.poll(() => button.isDisabled()).toBe(true); // nothing before a prediction
  await panel.getByRole('button', { name: prediction, exact: true }).click();
  await button.click();
  await page.locator(`[data-testid="exercise-${exercise}"][data-verdict]`).waitFor();
  return panel.innerText();
}

describe('Learn: chapters whose exercises train', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: `#/learn?${SMALL}` }));
  });
  afterAll(() => page.context().close());

  test('Learn: a chapter is walked: predict, do it, see the verdict, leave, and find the progress after a reload', async () => {
    await expect.poll(() => page.getByRole('navigation', { name: 'Chapters' }).getByRole('link').count()).toBe(12);
    await chapter(page, 'The clip');
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/learn\/clip\?/);
    const words = await carryOut(page, 'tight', 'fewer', 'One update at ±0.2, one at ±0.02');
    // the sentence has the run's own number, and that is what speaks against the prediction
    const { applied, metrics } = await read(page);
    const tight = metrics['actor/pg_clipfrac'] ?? 0;
    expect(tight).toBeGreaterThan(0);
    expect(applied).toMatchObject({ clipLow: 0.02, clipHigh: 0.02, seed: 7, backend: 'cpu', prompts: 16 });
    await expect.poll(async () => (await read(page)).selection.channel).toBe('ratio');
    expect(words).toContain('Wrong');
    expect(words).toMatch(/\bfewer\..*\bmore\./);
    expect(words).toContain(`at ±0.02 ${Math.round(100 * tight)} %`);

    await page.getByRole('link', { name: 'Lab', exact: true }).click();
    await expect
      .poll(() => read(page))
      .toMatchObject({
        batch: { isExample: true },
        ...{ session: 'none', applied: null },
        config: { clipLow: 0.2, clipHigh: 0.2, prompts: 4, groupSize: 4 },
        selection: { channel: 'mask' },
      });

    await page.goto(page.url().replace(/#.*/, '#/learn'));
    await page.reload();
    await page
      .getByTestId('progress')
      .getByText(/^1 of 21 .*\b0 /)
      .waitFor();
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/learn\/clip\?/);
    await expect
      .poll(() => page.getByTestId('exercise-tight').innerText())
      .toContain(`at ±0.02 ${Math.round(100 * tight)} %`);
    expect(problems).toEqual([]);
  });

  test('Learn: both masks off, a word of the tool is chosen with what pushed it', async () => {
    await page.evaluate((hash) => location.assign(hash), `#/learn/mask/both?${SMALL}`);
    expect(await carryOut(page, 'both', 'at some of them', 'Turn both masks off, one update')).toContain('Right');
    await page
      .getByTestId('inspector')
      .getByTestId('push')
      .getByText(/^epoch 1: [+−][\d.]+ × /)
      .waitFor();
    await expect.poll(() => page.locator('.token[aria-pressed="true"]').getAttribute('data-kind')).toBe('observation');
    await expect.poll(async () => (await read(page)).selection.channel).toBe('gradient');
    // the word has its room beside what is said of it
    const card = page.locator('.inspected > *');
    await expect
      .poll(() =>
        card.evaluateAll(([word, place]) => [
          word!.scrollWidth <= word!.clientWidth,
          word!.getBoundingClientRect().right <= place!.getBoundingClientRect().left,
        ]),
      )
      .toEqual([true, true]);
  });
});

test('Learn: a run of the reader is given back bit for bit when a chapter is left, and stays where it is kept', async () => {
  const { page, problems } = await visitStill(browser, { hash: `#/lab?${SMALL}` });
  await stepped(page, 2);
  const [own, before] = [await checksum(page), await read(page)];
  await page.evaluate(() => location.assign('#/learn/advantage'));
  const words = await carryOut(page, 'sum', 'exactly 0, up to rounding', 'One update, then add them up');
  expect(words).toContain('Right');
  expect(words).toMatch(/ up to 0\./);
  expect(await checksum(page)).not.toBe(own);
  await chapter(page, 'The clip');
  await expect.poll(() => checksum(page)).toBe(own);
  await expect
    .poll(() => read(page))
    .toMatchObject({ update: 2, running: false, points: before.points, config: before.config });
  // one that reads the recording has it brought into the lab, and the run comes back, too
  await chapter(page, 'What is a rollout?');
  expect(await carryOut(page, 'drawn', 'under a third', 'Count them')).toMatch(/\b166 tokens\b.*\b87\b/);
  await expect.poll(() => read(page)).toMatchObject({ session: 'none', batch: { isExample: true, update: 1 } });
  await chapter(page, 'The clip');
  await expect.poll(() => checksum(page)).toBe(own);
  await chapter(page, 'Advantage');
  await press(page, 'Once more');
  await carryOut(page, 'sum', 'above 0', 'One update, then add them up');
  await press(page, 'Keep this run in the lab');
  await chapter(page, 'The clip');
  await page.getByTestId('exercise-tight').waitFor();
  await framesLater(page); // were it given back, that would have begun
  expect((await read(page)).applied).toMatchObject({ prompts: 16 });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('Learn: who sets the run going meanwhile is told that nothing can be told', async () => {
  // a worker that is asked for two steps and no more: the exercise is under way for as long as the test likes
  const twoSteps = () => {
    let steps = 0;
    window.Worker = class extends Worker {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        const post = this.postMessage.bind(this);
        this.postMessage = (message: { readonly type?: string }, options?: object) => {
          if (message.type !== 'step' || ++steps <= 2) post(message, options);
        };
      }
    };
  };
  const { page } = await visitStill(browser, { hash: `#/learn/critic?${SMALL}`, before: [twoSteps] });
  const panel = page.getByTestId('exercise-explains');
  await panel.getByRole('button', { name: 'more of it' }).click();
  await panel.getByRole('button', { name: 'Train PPO for 20 updates' }).click();
  await panel.getByText(/update 2 of 20/).waitFor();
  await press(page, 'Run training');
  await panel
    .getByRole('alert')
    .getByText(/^Cannot tell/)
    .waitFor();
  await expect.poll(() => page.getByTestId('progress').innerText()).toContain('0 of 21');
  await page.context().close();
});

describe('Learn: what trains nothing', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: `#/learn/de/kl?${SMALL}` }));
  });
  afterAll(() => page.context().close());

  test('Learn: a former link opens its chapter, a presentation moves by arrow keys, and a print has the chapter alone', async () => {
    await page.getByRole('heading', { name: 'KL to the reference' }).waitFor();
    await press(page, 'Show as slides');
    const slide = page.getByTestId('slide');
    await slide.getByText('The reference is the policy').waitFor();
    // the lab stands at the left of the words, board and rollout, and nowhere else
    const beside = page.getByTestId('presenter-lab');
    await beside.locator('.env-svg').waitFor();
    await beside.locator('.token').first().waitFor();
    await expect
      .poll(async () => {
        const [lab, words] = [await beside.boundingBox(), await slide.boundingBox()];
        return (words?.x ?? NaN) - ((lab?.x ?? NaN) + (lab?.width ?? NaN));
      })
      .toBeGreaterThanOrEqual(0);
    await expect.poll(() => page.getByTestId('trajectory').count()).toBe(1);
    const slides = ['From one drawn token', 'After a step the policy', 'δ = log π', 'Two runs from the same start'];
    for (const text of slides) {
      await page.keyboard.press('ArrowRight');
      await slide.getByText(text).waitFor();
    }
    await page.keyboard.press('ArrowLeft');
    await slide.getByText('δ = log π').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => slide.count()).toBe(0);
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => page.getByText('The reference is the policy').isVisible()).toBe(true);
    for (const gone of ['.header', '.learn-stage', '.dock', '.chapters', '.hand-in']) {
      await expect.poll(() => page.locator(gone).isVisible(), { message: gone }).toBe(false);
    }
    await page.emulateMedia({ media: null });
  });

  test('Learn: an exercise on shipped runs trains nothing, and leaves the lab as it is', async () => {
    await page.evaluate(() => location.assign('#/learn/trap/solved'));
    const words = await carryOut(page, 'solved', 'in six or more', 'Look at the recorded runs');
    expect(words).toContain('Right');
    expect(words).toMatch(/\b8 of 8 runs\b.*\b8\d %/);
    expect(await read(page)).toMatchObject({ session: 'none', update: 0 });
  });

  test('Learn: a presentation covers what came out before, until it is asked for; the linked exercise is marked', async () => {
    await page.evaluate(() => location.assign('#/learn/rollout/drawn'));
    const panel = page.getByTestId('exercise-drawn');
    await expect.poll(() => panel.getAttribute('data-asked')).toBe('true');
    await carryOut(page, 'drawn', 'a third to two thirds', 'Count them');
    await press(page, 'Show as slides');
    const slide = page.getByTestId('slide');
    await slide.waitFor();
    await page.keyboard.press('End');
    await slide.getByRole('button', { name: 'Count them' }).waitFor();
    expect(await slide.getByText('You predicted').count()).toBe(0);
    await page.keyboard.press('r');
    await slide.getByText('You predicted').waitFor();
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Hand it in' }).click();
    await page.getByLabel('Name or alias').waitFor({ state: 'visible' });
  });

  test('Learn: results are handed in as a file, and the class view merges files and names those it does not take', async () => {
    await page.getByLabel('Name or alias').fill('Ada');
    const coming = page.waitForEvent('download');
    await press(page, 'Save my results');
    const text = await readFile(await (await coming).path(), 'utf8');
    // the same for whoever does it, and whenever
    const counted = { answer: 'middle', numbers: { tokens: 166, drawn: 87 }, backend: 'recording' };
    expect(JSON.parse(text)).toMatchObject({
      schema: 'rollout-playground/chapter-results',
      name: 'Ada',
      chapter: 'rollout',
      handIn: 1,
      results: { 'rollout/drawn': counted },
    });
    await handToClass(page, {
      'ada.json': text,
      'copy.json': text,
      'bo.json': text.replace('Ada', 'Bo').replace('"predicted": "middle"', '"predicted": "over"'),
      'run.json': '{"kind":"run"}',
    });
    await page.getByText(/\b2 files, 2 /).waitFor();
    const table = page.getByRole('table', { name: 'Verdicts and numbers by name and exercise' });
    const verdicts = table.locator('td[data-verdict]');
    await expect
      .poll(() => verdicts.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-verdict'))))
      .toEqual(['right', 'wrong']);
    for (const [name, predicted] of [
      ['Ada', 'a third to two thirds'],
      ['Bo', 'over two thirds'],
    ] as const) {
      const line = table.getByRole('row', { name });
      expect(await line.getByRole('cell').allInnerTexts(), name).toEqual([predicted, expect.stringContaining('52 %')]);
    }
    // a verdict has one colour: in the table as in the chart
    const colours = await verdicts.locator('.icon').evaluateAll((all) => all.map((e) => getComputedStyle(e).color));
    const bars = page.locator('.class-plot .recharts-bar-rectangle path');
    await expect.poll(() => bars.evaluateAll((all) => all.map((e) => getComputedStyle(e).fill))).toEqual(colours);
    expect(new Set(colours).size).toBe(2);
    await page.getByRole('img', { name: /^What is a rollout\?.*\b1 right, 1 wrong, 0 / }).waitFor();
    const told = page.getByRole('alert');
    await told.getByText(/^copy\.json\b.*\bada\.json\b/).waitFor();
    await told.getByText(/^run\.json\b.*\bschema\b/).waitFor();
    expect(problems).toEqual([]);
  });

  test('SHOULD-32: Esc ends the tour, focus goes back to where it came from, and it is not offered on the next load', async () => {
    await page.evaluate((hash) => location.assign(hash), `#/lab?${SMALL}`);
    const offer = page.getByRole('button', { name: 'Take the tour' });
    await offer.focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('tour').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe('tour');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByTestId('tour').count()).toBe(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Take the tour');
    await page.reload();
    await page.getByTestId('replay').waitFor();
    await loaded(page);
    await framesLater(page); // what is not to come had the time to
    expect(await page.getByTestId('tour').count()).toBe(0);
    expect(await offer.count()).toBe(0);
  });
});

test('Learn: who comes to an exercise by a link on a phone sees all of it, and where they are', async () => {
  const { page } = await visitStill(browser, { hash: `#/learn/rollout/drawn?${SMALL}`, viewport: PHONE });
  const pane = page.locator('.learn');
  const below = (e: Element, of: Element | null) =>
    e.getBoundingClientRect().bottom - of!.getBoundingClientRect().bottom;
  const button = page.getByRole('button', { name: 'Count them' });
  await expect.poll(async () => button.evaluate(below, await pane.elementHandle())).toBeLessThanOrEqual(0);
  const tab = page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Learn' });
  await expect.poll(async () => ((await tab.boundingBox())?.x ?? 999) + 40).toBeLessThanOrEqual(PHONE.width);
  // the tour floats over the page, so the walk does not judge it
  await press(page, 'Take the tour');
  await page.getByTestId('tour').waitFor();
  expect(await axe(page, undefined, '[data-testid="tour"]')).toEqual([]);
  expect(await tooSmall(page)).toEqual([]);
  await page.context().close();
});

test('SHOULD-32: nine stops, each over when it was done, with a number it changed: both masks off let the tool’s tokens into the loss, on again keep them out', async () => {
  const { page } = await visitStill(browser, { hash: `#/learn/rollout?${SMALL}&updates=100000` });
  const tour = page.getByTestId('tour');
  const at = (stop: number) => tour.getByText(`Stop ${stop} of 9`).waitFor();
  const result = () => expect.poll(() => tour.locator('.tour-result').textContent());
  const step = () => stepped(page, ++updates);
  let updates = 0;
  const flip = (name: RegExp) => page.getByRole('switch', { name }).click();
  // the first chapter leads into the lab
  await press(page, 'Begin in the lab');
  await page.locator('.lab[data-screen="lab"] .token').first().waitFor();
  await at(1);
  expect(await tour.locator('.tour-result').count()).toBe(0);
  await page.locator('.token[data-kind="observation"]').first().click();
  await at(2);
  await result().toMatch(/push 0\. 0 of \d+ /);
  // nothing but an update goes on from here: not a token, not a channel
  await page.keyboard.press('2');
  await page.locator('.token').nth(2).click();
  await framesLater(page);
  await at(2);
  await step();
  await at(3);
  await result().toMatch(/^1 update .* 0 of \d+ /);
  await flip(/Loss mask/);
  await framesLater(page);
  await at(3); // by itself it only dilutes
  await flip(/Advantage mask/);
  await at(4);
  await step();
  await at(5);
  // all of the tool's tokens that the batch has are in the loss, and the one pushed hardest is chosen
  const { batch } = await read(page);
  expect(batch.observations).toBeGreaterThan(0);
  expect(batch.observationsTrained).toBe(batch.observations);
  await result().toContain(`${batch.observations} of ${batch.observations} `);
  await result().toMatch(/push [+−]\d/);
  await expect.poll(async () => (await read(page)).selection).toMatchObject({ shownUpdate: null, channel: 'gradient' });
  const pushed = '.token[data-kind="observation"][data-loss="true"]';
  await page.locator(`${pushed}[aria-pressed="true"][data-tour]`).waitFor();
  await page.locator(`${pushed}[aria-pressed="false"]`).filter({ hasText: /[1-9]/ }).last().click();
  await at(6);
  await result().toMatch(/push [+−]\d/);
  await flip(/Loss mask/);
  await at(7);
  await expect.poll(async () => (await read(page)).config).toMatchObject({ lossMask: 'on', advantageMask: 'on' });
  await step();
  await at(8);
  const checked = await read(page);
  await result().toContain(`0 of ${checked.batch.observations} `);
  await page.locator('#knob-observationLoss').fill('0.05');
  await step();
  await at(9);
  await result().toMatch(/^0 of \d+ .*, [1-9]\d* are predicted.* push \+/);
  await page.locator('.token[data-loss="predicted"][aria-pressed="true"]').waitFor();
  const after = await read(page);
  await press(page, 'Run training');
  await expect.poll(async () => (await read(page)).update).toBeGreaterThan(after.update + 3);
  await at(9);
  await press(page, 'Pause');
  await tour.getByText('That was the tour').waitFor();
  await result().toMatch(/\d+ % → \d+ %/);
  await page.context().close();
});

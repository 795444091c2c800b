import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allTurnsDrawn, axeInBothThemes, DEVICES, launch, pause, read, train, unfold, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

// states that the walk doesn't open
test.each(DEVICES)(
  'axe finds nothing serious in either theme, while it trains and in opened panels: %s',
  async (device, viewport) => {
    // a run in the trap, with a reward model and a filter: every panel has something to say
    const hash = '#/lab?v=1&seed=13&rewardModel=on&preferenceReward=1&filter=top-fraction&klCoef=0.1&klRewardCoef=0.1';
    const { page } = await visitStill(browser, { worker: 'fake', viewport, hash });
    const tab = async (name: string) => {
      if (device === 'phone') await page.getByRole('button', { name, exact: true }).click();
    };
    await train(page, 12);
    await page.getByTestId('health-panel').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await pause(page);
    if (device === 'desktop') {
      await page.locator('[data-token="3"]').click();
      for (const key of ['2', '3', '4']) {
        const before = (await read(page)).selection.channel;
        await page.keyboard.press(key);
        await expect.poll(async () => (await read(page)).selection.channel).not.toBe(before);
        await allTurnsDrawn(page);
        expect(await axeInBothThemes(page, '.trajectory')).toEqual([]); // nothing else changes
      }
    }
    await tab('Tune');
    await unfold(page, 'Rewards', 'Optimizer', 'Objective', 'Rollouts', 'Task', 'Model', 'Run');
    await unfold(page, 'What the masks do', 'Advanced: where each mask acts');
    await page.getByTestId('warnings').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Preferences and RLHF…' }).click();
    await page.getByRole('button', { name: 'A is better' }).waitFor();
    await unfold(page, 'RLHF and agent RL: what is the difference?');
    expect(await axeInBothThemes(page, 'dialog')).toEqual([]);
    await page.keyboard.press('Escape');
    await tab('Curves');
    await page.getByLabel('Curves shown').selectOption('health');
    expect(await axeInBothThemes(page, '.charts')).toEqual([]);
    await page.context().close();
  },
);

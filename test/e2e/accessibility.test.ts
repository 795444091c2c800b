import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstRows } from '../weekly.ts';
import { allTurnsDrawn, axeInBothThemes, DEVICES, launch, pause, read, train, unfold, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

// states that the walk doesn't open; weekly on a phone, too, of which the walk has the tabs
test.each(firstRows(DEVICES, 1))(
  'axe finds nothing serious in either theme, while it trains: %s',
  async (device, viewport) => {
    const { page } = await visitStill(browser, { worker: 'fake', viewport });
    await train(page, 12);
    expect(await axeInBothThemes(page)).toEqual([]);
    await pause(page);
    if (device === 'desktop') {
      await page.locator('[data-token="3"]').click();
      await unfold(page, 'Rewards', 'Optimizer', 'Objective', 'Rollouts', 'Task', 'Model', 'Run');
      expect(await axeInBothThemes(page)).toEqual([]);
      for (const key of ['2', '3', '4']) {
        const before = (await read(page)).selection.channel;
        await page.keyboard.press(key);
        await expect.poll(async () => (await read(page)).selection.channel).not.toBe(before);
        await allTurnsDrawn(page);
        expect(await axeInBothThemes(page, '.trajectory')).toEqual([]); // nothing else changes
      }
    } else {
      for (const tab of ['Curves', 'Tune']) {
        await page.getByRole('button', { name: tab, exact: true }).click();
        expect(await axeInBothThemes(page)).toEqual([]);
      }
    }
    await page.context().close();
  },
);

test.each(firstRows(DEVICES, 1))(
  'axe finds nothing serious in opened panels, in either theme: %s',
  async (device, viewport) => {
    // a run in the trap, with a reward model and a filter: every panel has something to say
    const hash = '#/lab?v=1&seed=13&rewardModel=on&preferenceReward=1&filter=top-fraction&klCoef=0.1&klRewardCoef=0.1';
    const { page } = await visitStill(browser, { worker: 'fake', viewport, hash });
    const tab = async (name: string) => {
      if (device === 'phone') await page.getByRole('button', { name, exact: true }).click();
    };
    await train(page, 8);
    await pause(page);
    await page.getByTestId('health-panel').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await tab('Tune');
    await unfold(page, 'What the masks do', 'Advanced: where each mask acts', 'Rewards');
    await page.getByTestId('warnings').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Preferences and RLHF…' }).click();
    await page.getByRole('button', { name: 'A is better' }).waitFor();
    await unfold(page, 'RLHF and agent RL: what is the difference?');
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await tab('Curves');
    await page.getByLabel('Curves shown').selectOption('health');
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.context().close();
  },
);

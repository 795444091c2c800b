import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import type { ListedRoute } from '../../src/page/address/screens.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { drop, handToClass, toScreen, unfold } from './lab.ts';

/** What a person looks at on a screen: the screen itself, or what opens on it. */
export interface Place {
  readonly name: string;
  /** Opens it where the screen is shown, a run of two updates or more behind it. */
  readonly open: (page: Page) => Promise<void>;
  /** The tab of the lab that shows it on a phone, where the panels are tabs. */
  readonly tab?: LabTab;
}
type LabTab = 'Watch' | 'Curves' | 'Tune';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
/** On a phone the lab's panels are tabs. */
export async function toTab(page: Page, name: LabTab): Promise<void> {
  const tab = page.locator('.views').getByRole('button', { name });
  if (await tab.isVisible()) await tab.click();
}
const itself = (name: string, shown: string): Place => ({
  name,
  open: (page) => page.locator(shown).first().waitFor(),
});
const byKey = (name: string, key: string, shown: string): Place => ({
  name,
  open: async (page) => {
    await page.locator('body').press(key);
    await page.locator(shown).first().waitFor();
  },
});

interface WalkedScreen {
  readonly loaded: string; // a selector that matches as soon as the screen's own code is there
  readonly places: readonly Place[];
}

/** Every screen with what opens on it: a new screen has no place here until it is given one, and the compiler asks for it. */
export const SCREENS_TO_WALK: Readonly<Record<ListedRoute, WalkedScreen>> = {
  lab: {
    loaded: '.controls-scroll .your-facts',
    places: [
      { ...itself('lab', '.trajectory .token'), tab: 'Watch' },
      {
        name: 'curves',
        open: (page) => page.locator('.charts .plot svg').first().waitFor(),
        tab: 'Curves',
      },
      {
        name: 'formula of a pinned knob',
        open: async (page) => {
          await unfold(page, 'Objective');
          await press(page, 'Where Loss mask acts in the formula');
          await page.locator('.term[data-lit="true"]').first().waitFor();
        },
        tab: 'Tune',
      },
      {
        name: 'a chosen token',
        open: async (page) => {
          await page.locator('[data-token="3"]').click();
          await page.getByTestId('distribution').waitFor();
        },
        tab: 'Watch',
      },
      byKey('choice of a task', 'c', '.preset-card'),
      byKey('play it yourself', 'p', 'dialog .transcript'),
      byKey('share', 's', 'dialog[open]'),
      {
        name: 'share as a clip',
        open: async (page) => {
          await page.locator('body').press('s');
          await page.getByRole('button', { name: 'Clip', exact: true }).click();
          await page.locator('.share-card svg').first().waitFor();
        },
      },
      byKey('keys', '?', 'dialog[open]'),
    ],
  },
  group: { loaded: '.group-table', places: [itself('group', '[data-testid="shared"]')] },
  update: {
    loaded: '.update-grid',
    places: [
      itself('tokens that changed', '[data-testid="changes"] button'),
      {
        name: 'why a token moved',
        open: async (page) => {
          await page.getByTestId('changes').getByRole('button').first().click();
          await page.getByTestId('why').locator('.why-bar').first().waitFor();
        },
      },
    ],
  },
  talk: {
    loaded: '.talk',
    places: [
      {
        name: 'an answer of the agent',
        open: async (page) => {
          await press(page, 'Ask the agent');
          await page.locator('.voice[data-voice="now"] .token').first().waitFor();
        },
      },
    ],
  },
  models: {
    loaded: '.models',
    places: [
      itself('models', '.drop-here'),
      {
        name: 'a model that answers',
        open: async (page) => {
          await drop(page, { 'tiny.gguf': tinyGguf() });
          await page.getByRole('button', { name: 'Open', exact: true }).click();
          await page.getByLabel('Tokens', { exact: true }).fill('8');
          await page.getByRole('textbox', { name: 'Message' }).fill('the cat');
          await page.getByRole('textbox', { name: 'Message' }).press('Enter');
          await page
            .getByTestId('pace')
            .getByText(/tokens\/s/)
            .waitFor();
          await page.locator('.flow .token').nth(1).click();
          await press(page, 'Surprise');
        },
      },
    ],
  },
  train: {
    loaded: '.models',
    places: [
      itself('what trains', '.trainee'),
      {
        name: 'a model that is to be trained',
        open: async (page) => {
          await drop(page, { 'tiny.gguf': tinyGguf() });
          await page.getByLabel('Memory it takes').getByText('gradients and Adam’s moments').waitFor();
        },
      },
    ],
  },
  runs: { loaded: 'main .panel, main section', places: [itself('one run', '.every-curve')] },
  forks: {
    loaded: '.fork',
    places: [
      itself('forks', '.fork'),
      {
        name: 'a finished comparison',
        open: async (page) => {
          await page.getByLabel('Updates', { exact: true }).fill('2'); // as good to look at as 40
          await press(page, /^Fork$/);
          await page.locator('[data-testid="comparison"][data-state="done"]').waitFor({ timeout: 240_000 });
        },
      },
    ],
  },
  rollouts: {
    loaded: '.drop-here',
    places: [
      itself('rollouts before a file', '.drop-here'),
      {
        name: 'rollouts',
        open: async (page) => {
          await press(page, 'Open here');
          await page.getByRole('searchbox').waitFor();
          await page.getByTestId('record').getByRole('button', { name: 'Adv.' }).click();
        },
      },
      {
        name: 'two steps of rollouts',
        open: async (page) => {
          await press(page, 'Two steps');
          await page.getByTestId('steps-look').locator('.span').first().waitFor();
        },
      },
    ],
  },
  experiments: { loaded: '.setup', places: [itself('experiments', '.setup')] },
  profile: {
    loaded: 'main .panel, main section',
    places: [
      {
        name: 'profile',
        open: async (page) => {
          await press(page, 'Measure');
          await page.getByTestId('kernels').getByRole('table').waitFor();
        },
      },
    ],
  },
  environment: {
    loaded: '.cm-content',
    places: [
      {
        name: 'an environment with its check',
        open: async (page) => {
          // the one that is shown first, with fewer tasks to check
          const source = await readFile('public/environments/guessTheWord.ts', 'utf8');
          const text = source.replace('train: 100_000, test: 100', 'train: 40, test: 10');
          await page
            .locator('.environment input[type="file"]')
            .setInputFiles({ name: 'guessTheWord.ts', mimeType: 'text/typescript', buffer: Buffer.from(text) });
          await page.locator('.cm-content').getByText('40').waitFor();
          await page.getByTestId('check').getByRole('button', { name: 'Check' }).click();
          await page.getByTestId('verdict').waitFor();
          await page.getByText('About these numbers').click();
        },
      },
      {
        name: 'an environment with a fault',
        open: async (page) => {
          await page.getByRole('textbox', { name: 'Environment, as TypeScript' }).press('Control+Home');
          await page.keyboard.type('class {');
          await page.getByTestId('reading').getByRole('button', { name: /^Line/ }).waitFor();
        },
      },
      {
        name: 'environments to start from',
        open: async (page) => {
          await press(page, 'Start from…');
          await page.locator('dialog[open] .template').first().waitFor();
        },
      },
      {
        name: 'an environment that is to be exported',
        open: async (page) => {
          await press(page, 'Export for an RL library…');
          await page.getByRole('dialog').getByRole('button', { name: 'Check and export' }).waitFor();
        },
      },
    ],
  },
  learn: {
    loaded: '.chapter',
    places: [
      itself('chapter', '.chapter'),
      {
        name: 'an exercise with its verdict',
        open: async (page) => {
          await page.evaluate(() => location.assign('#/learn/trap/solved'));
          const panel = page.getByTestId('exercise-solved');
          await panel.getByRole('button', { name: 'in six or more' }).click();
          await panel.getByRole('button', { name: 'Look at the recorded runs' }).click();
          await page.locator('[data-testid="exercise-solved"][data-verdict]').waitFor();
        },
      },
      {
        name: 'presenter',
        open: async (page) => {
          await press(page, 'Show as slides');
          await page.getByTestId('slide').waitFor();
        },
      },
      {
        name: 'class',
        open: async (page) => {
          const results = await handedIn(page);
          await handToClass(page, { 'ada.json': results, 'run.json': '{"kind":"run"}' });
          await page.getByRole('table', { name: 'Verdicts and numbers by name and exercise' }).waitFor();
        },
      },
    ],
  },
  answers: {
    loaded: '.answer-list',
    places: [
      itself('the list of answers', '.answer-list'),
      {
        name: 'an answer with a calculator',
        open: async (page) => {
          await page.evaluate(() => location.assign('#/answers/group-size'));
          await page.getByTestId('calculator').waitFor();
        },
      },
    ],
  },
};

/** The recorded run in the lab, before any of one's own. */
export const RECORDING = itself('the recording', '.recorded-updates');

/** Saves the results of the chapter that is shown; their text. */
async function handedIn(page: Page): Promise<string> {
  await page.getByText('Hand in', { exact: true }).click();
  await page.getByLabel('Name or alias').fill('Ada');
  const coming = page.waitForEvent('download');
  await press(page, 'Save my results');
  return readFile(await (await coming).path(), 'utf8');
}

/** Closes what is open on a screen. */
export async function leave(page: Page): Promise<void> {
  await page.keyboard.press('Escape'); // lets go of a token, and closes a window
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
}

/** Goes to a screen as the keyboard does: the links to its place and in it get the focus, and Enter is pressed. */
export const reach = (page: Page, route: ListedRoute): Promise<void> =>
  toScreen(page, route, (link) => link.press('Enter'));

import { afterAll, beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import type { EnvView } from '../../src/domain/envView.ts';
import { useConfig } from '../../src/page/knobs/configStore.ts';
import { bindDrop } from '../../src/page/shell/drop.ts';
import { bindEngine } from '../../src/page/training/engine.ts';
import { example, exampleVocabulary } from '../ui/example.ts';
import { deleteFacts, readFacts, restoreFacts, useFacts } from '../../src/page/training/factsStore.ts';
import { useNotices } from '../../src/page/browser/notices.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { FactsPanel } from '../../src/ui/knobs/FactsPanel.tsx';
import { Graph } from '../../src/ui/drawings/Graph.tsx';
import { RolloutPanel } from '../../src/ui/run/RolloutPanel.tsx';
import { stubWorker } from './stubWorker.ts';

const worker = stubWorker();
afterAll(bindEngine());
beforeEach(() => {
  deleteFacts();
  useConfig.setState({ wanted: parseConfig(), applied: null });
});

const EVIL = '<img src=x onerror="document.title=1">';
const markup = () => document.querySelectorAll('img, b.evil, script:not([src]):not([type])').length;

test('pasted facts are read, shown as text whatever they hold, and go with the next run', async () => {
  await render(<FactsPanel />);
  await page.getByText('Your own facts (CSV)').click();
  const before = markup();
  await page.getByLabelText('or paste').fill(`"${EVIL.replaceAll('"', '""')}",is,<b class=evil>bold</b>\nx,to,y`);
  await page.getByRole('button', { name: 'Read pasted facts' }).click();
  await expect
    .element(page.getByTestId('facts-loaded'))
    .toHaveTextContent('pasted text: 2 facts, 4 entities, 2 relations');
  await expect
    .element(page.getByTestId('facts-loaded'))
    .toHaveTextContent(`The is of ${EVIL} is <b class=evil>bold</b>.`);
  expect(markup()).toBe(before);
  await page.getByRole('button', { name: 'Train on these facts' }).click();
  const begun = () => worker.asked.findLast((command) => command.type === 'start');
  await expect
    .poll(begun)
    .toMatchObject({ config: { env: 'your-facts' }, run: true, facts: { source: 'pasted text' } });
  const start = begun();
  expect(start?.type === 'start' && start.facts?.triples[0]).toEqual([EVIL, 'is', '<b class=evil>bold</b>']);
});

test('a file that cannot be used is explained, and the facts that were there stay', async () => {
  await render(<FactsPanel />);
  await readFacts(new File(['a,to,b\nb,to,c'], 'good.csv'));
  await readFacts(new File(['a,to\nb'], 'bad.csv'));
  await expect.element(page.getByRole('alert')).toHaveTextContent('Line 1: 2 columns (a | to); a fact needs three');
  await expect.element(page.getByRole('alert')).toHaveTextContent('The facts of good.csv stay in use.');
  await expect.element(page.getByTestId('facts-loaded')).toHaveTextContent('good.csv: 2 facts');
  await readFacts(new File([new Uint8Array(10_000_000)], 'large.csv'));
  await expect.element(page.getByRole('alert')).toHaveTextContent('The facts take 10.0 MB; at most 1 MB fit.');
  await readFacts(new File([Uint8Array.of(0x61, 0xe9, 0x2c)], 'latin.csv'));
  await expect.element(page.getByRole('alert')).toHaveTextContent('Line 1 has bytes that are not UTF-8.');
  expect(useFacts.getState().facts?.source).toBe('good.csv');
  await readFacts('c,to,d\nd,to,e');
  await expect.element(page.getByRole('alert')).not.toBeInTheDocument();
});

test('a file dropped anywhere on the page is read, and the page stays', async () => {
  const stop = bindDrop();
  await render(<FactsPanel />);
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['a,to,b\nb,to,c'], 'dropped.csv'));
  const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
  document.body.dispatchEvent(drop);
  expect(drop.defaultPrevented).toBe(true);
  await expect.element(page.getByTestId('facts-loaded')).toHaveTextContent('dropped.csv: 2 facts');
  stop();
});

test('facts come back after a reload, until they are forgotten; what is no longer readable does not', async () => {
  await readFacts('a,to,b\nb,to,c');
  expect(useFacts.getState().isStored).toBe(true);
  useFacts.setState(useFacts.getInitialState());
  await restoreFacts();
  expect(useFacts.getState().facts?.triples).toEqual([
    ['a', 'to', 'b'],
    ['b', 'to', 'c'],
  ]);
  deleteFacts();
  await restoreFacts();
  expect(useFacts.getState().facts).toBeNull();
  localStorage.setItem('rollout-playground-facts', '{"source":"old","content":"half a,line"}');
  await restoreFacts();
  expect(useFacts.getState()).toMatchObject({ facts: null, problems: [] });
  expect(useNotices.getState().sentences.join()).toMatch(/^Your own facts could not be read again/);
});

test('names that hold markup are text in the rollout and in the graph', async () => {
  const seven = exampleVocabulary.indexOf('7');
  const [first, ...others] = example.episodes;
  useLive.setState({ vocabulary: exampleVocabulary });
  useLive.setState({ batch: { ...example, episodes: [{ ...first!, names: new Map([[seven, EVIL]]) }, ...others] } });
  const view: EnvView & { kind: 'graph' } = {
    kind: 'graph',
    title: 'Your facts',
    entities: [EVIL, '</svg><script>1</script>', 'Lima'],
    relations: ['<b>r</b>'],
    edges: [[1, 2, null]],
    gold: [{ entity: 0, relation: 0, to: 1 }],
    searched: [{ turn: 1, entity: 0, relation: 0, to: 1 }],
    answer: 1,
    given: null,
  };
  const before = markup();
  await render(
    <>
      <RolloutPanel />
      <Graph view={view} turn={1} />
    </>,
  );
  await expect.element(page.getByText(EVIL, { exact: true }).first()).toBeInTheDocument();
  await expect
    .element(page.getByRole('img'))
    .toHaveAttribute('aria-label', expect.stringContaining(`turn 1: ${EVIL} <b>r</b> gives`));
  expect(markup()).toBe(before);
});

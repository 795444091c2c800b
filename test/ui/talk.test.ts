import { beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { Role } from '../../src/domain/tokens.ts';
import type { Answer, Question } from '../../src/wire/questions.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { ask, continueFrom, regenerate, beginTalk, useTalk } from '../../src/page/training/talkStore.ts';
import { example, exampleVocabulary } from './example.ts';

type Asked = Extract<Question, { kind: 'talk' }>;

/** What the page asked and nobody has answered yet; each is answered by hand. */
const waiting: { readonly asked: Question; readonly answer: (answer: Answer) => void }[] = [];
vi.mock('../../src/page/training/transport.ts', () => ({
  question: (asked: Question) => new Promise<Answer>((answer) => waiting.push({ asked, answer })),
}));

const FORM = { doc: 'a number', blanks: [{ label: 'Number', words: null, optional: false }], example: ['3'] };
let branches = 0;

/** Answers the question that waits longest, and lets the page take it. Returns what was asked. */
async function answerNext(answer?: Answer): Promise<Question> {
  await expect.poll(() => waiting.length).toBeGreaterThan(0);
  const next = waiting.shift()!;
  const told = next.asked.kind === 'ask-form' ? ({ kind: 'ask-form', form: FORM } as const) : said();
  next.answer(answer ?? told);
  await new Promise((resolve) => setTimeout(resolve));
  return next.asked;
}

function said(): Answer {
  const config = parseConfig();
  return { kind: 'talk', batch: example, config, vocabulary: exampleVocabulary, id: ++branches, judged: true };
}

const channelSide = (asked: Question) => asked as Asked;

/** A talk with run `run`, which has learned nothing yet: one voice. */
async function open(run: number): Promise<void> {
  const opened = beginTalk(run);
  await answerNext();
  await opened;
}

beforeEach(async () => {
  waiting.length = 0;
  useLive.setState({ update: 0 });
  await open(useTalk.getState().run + 1);
});

test('another run has been said nothing by, whatever the one before said; words that were typed stay', async () => {
  useTalk.setState({ words: ['12'] });
  void ask();
  await answerNext();
  useTalk.setState({ selected: { voice: 'now', t: 5 }, shownTokens: 3 });
  expect(useTalk.getState().answers.now).toBeDefined();
  await beginTalk(useTalk.getState().run); // the screen is opened again: the talk goes on
  expect(useTalk.getState().answers.now).toBeDefined();
  await open(useTalk.getState().run + 1);
  expect(useTalk.getState()).toMatchObject({ shownTokens: 0, playing: false, selected: null, words: ['12'] });
  expect(useTalk.getState().answers).toEqual({});
  void regenerate(); // of nothing
  expect(waiting).toEqual([]);
});

test('what the run before still answers is not taken for what the new one says', async () => {
  void ask();
  await expect.poll(() => waiting.length).toBe(1);
  const late = waiting.shift()!;
  await open(useTalk.getState().run + 1);
  expect(useTalk.getState().asking).toBe(false);
  late.answer(said());
  await new Promise((resolve) => setTimeout(resolve));
  expect(useTalk.getState()).toMatchObject({ asking: false });
  expect(useTalk.getState().answers).toEqual({});
});

test('each is played on with the task and the environment seed it was asked with, though another was asked in vain since', async () => {
  useTalk.setState({ chosenBy: 'number', seed: 5 });
  void ask();
  const first = channelSide(await answerNext());
  useTalk.setState({ seed: 6 });
  void ask();
  await answerNext({ kind: 'refused', message: 'no such task' });
  expect(useTalk.getState()).toMatchObject({ asking: false, problem: 'no such task' });
  void continueFrom({ voice: 'now', t: 9 }, 4);
  const onward = channelSide(await answerNext());
  expect([onward.chosenTask, onward.environmentSeed]).toEqual([{ seed: 5 }, first.environmentSeed]);
  void regenerate();
  const again = channelSide(await answerNext());
  expect([again.chosenTask, again.environmentSeed, again.agentPrefix]).toEqual([
    { seed: 5 },
    first.environmentSeed,
    [],
  ]);
  expect(again.drawIndex).not.toBe(first.drawIndex);
});

test('no word can be put into a mouth that is speaking; afterwards the word that was chosen is looked at', async () => {
  void ask();
  await answerNext();
  void regenerate();
  await expect.poll(() => waiting.length).toBe(1);
  await continueFrom({ voice: 'now', t: 9 }, 4);
  expect(waiting).toHaveLength(1); // nothing more was asked
  await answerNext();
  const t = example.roles.indexOf(Role.action) + 1; // the agent's second word
  void continueFrom({ voice: 'now', t }, 4);
  expect(useTalk.getState().asking).toBe(true);
  await answerNext();
  expect(useTalk.getState()).toMatchObject({ asking: false, shownTokens: 2, selected: { voice: 'now', t } });
});

test('of two tasks asked one upon the other the later one is shown, in whatever order the answers come', async () => {
  useTalk.setState({ chosenBy: 'number', seed: 1 });
  const first = ask();
  await expect.poll(() => waiting.length).toBe(1);
  const early = waiting.shift()!;
  useTalk.setState({ seed: 2 });
  void ask();
  await answerNext();
  early.answer(said());
  await first;
  expect(useTalk.getState().answers.now?.request.task).toEqual({ seed: 2 });
});

test('the task that was asked before training meets the same draws after it, until other draws are asked for', async () => {
  useTalk.setState({ chosenBy: 'number', seed: 3 });
  void ask();
  const before = channelSide(await answerNext());
  expect(before.voice).toBe('now'); // there is only one yet
  void continueFrom({ voice: 'now', t: 9 }, 4); // a word in its mouth is a talk of its own
  await answerNext();
  useLive.setState({ update: 12 });
  void ask();
  const [begun, now] = [channelSide(await answerNext()), channelSide(await answerNext())];
  for (const each of [begun, now]) {
    expect([each.chosenTask, each.environmentSeed, each.drawIndex, each.agentPrefix]).toEqual([
      before.chosenTask,
      before.environmentSeed,
      before.drawIndex,
      [],
    ]);
  }
  expect([begun.voice, now.voice]).toEqual(['begun', 'now']);
  void regenerate();
  const other = channelSide(await answerNext());
  await answerNext();
  expect(other.drawIndex).not.toBe(before.drawIndex);
  void ask();
  expect(channelSide(await answerNext()).drawIndex).toBe(other.drawIndex); // what is on the page is what is asked again
  await answerNext();
  useTalk.setState({ seed: 4 });
  void ask();
  const another = channelSide(await answerNext());
  await answerNext();
  expect([before.drawIndex, other.drawIndex]).not.toContain(another.drawIndex);
});

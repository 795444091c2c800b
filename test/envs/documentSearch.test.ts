import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openDocuments, PASSAGE_WORDS, readDocuments } from '../../src/envs/documentCollection.ts';
import type { Episode, Reset } from '../../src/envs/env.ts';
import { wordsOf } from '../../src/envs/lexicalIndex.ts';
import { expertPlay, play, subject } from './checker.ts';

const { corpus, questions, commonWords: words } = openDocuments();
const textOf = new Map(corpus.passages.map(({ title, text }) => [title, text]));
const read = (title: string) =>
  `${title} ${wordsOf(textOf.get(title) ?? '')
    .slice(0, PASSAGE_WORDS)
    .join(' ')}`;
const { env, settings } = subject('document-search');

/** Ids as a person reads them in this episode. */
const said = (episode: Episode, ids: readonly number[]) =>
  ids.map((id) => episode.names.get(id) ?? env.vocabulary[id]).join(' ');
const ids = (episode: Episode, text: readonly string[]) =>
  text.map((word) => {
    const slot = [...episode.names].find(([, name]) => name === word)?.[0];
    return slot ?? env.vocabulary.indexOf(word);
  });
const viewOf = (episode: Episode) => {
  const view = episode.view();
  if (view.kind !== 'passages') throw new Error('want passages');
  return view;
};
const askedIn = (episode: Episode) =>
  questions.find(({ text }) => `${text}?`.toLowerCase() === episode.question.toLowerCase());

describe('the questions', () => {
  it('are a few hundred about a few hundred sentences, a sixth or more of them over two', () => {
    expect(corpus.passages.length).toBeGreaterThan(300);
    expect(questions.length).toBeGreaterThan(300);
    expect(questions.filter(({ passages }) => passages.length === 2).length).toBeGreaterThan(questions.length / 6);
  });

  it('are answered by one or two words of the part of their last passage that is read', () => {
    for (const { answer, passages } of questions) {
      expect(wordsOf(answer).length).toBeLessThanOrEqual(2);
      expect(` ${read(passages.at(-1) ?? '')} `).toContain(` ${answer} `);
    }
  });

  it('hold no word of their answer, nor does the first of two passages', () => {
    for (const { text, answer, passages } of questions) {
      const before = [text, ...passages.slice(0, -1).map(read)].join(' ').toLowerCase().split(' ');
      for (const word of wordsOf(answer.toLowerCase())) expect(before).not.toContain(word);
    }
  });

  it('have queries of one or two words that find their passages first, the second in words that the first one says', () => {
    for (const { text, passages, queries } of questions) {
      queries.forEach((query, hop) => {
        expect(wordsOf(query).length).toBeLessThanOrEqual(2);
        expect(corpus.search(query, 1)[0]?.passage.title).toBe(passages[hop]);
        const seen = [text, ...passages.slice(0, hop).map(read)].join(' ').split(' ');
        for (const word of wordsOf(query)) expect(seen).toContain(word);
      });
    }
  });

  it('do not overlap between the splits, and every unread one needs a passage that training never does', () => {
    const inSplit = (name: string) => questions.filter(({ split }) => split === name);
    const trained = new Set(inSplit('train').map(({ text }) => text));
    const needed = new Set(inSplit('train').flatMap(({ passages }) => passages));
    for (const split of ['held-out', 'unread']) {
      expect(inSplit(split).length).toBeGreaterThan(80);
      for (const { text } of inSplit(split)) expect(trained.has(text)).toBe(false);
    }
    for (const { passages } of inSplit('unread')) expect(passages.some((title) => !needed.has(title))).toBe(true);
  });

  it('are drawn from their split', () => {
    const drawn = (begin: Reset | undefined) =>
      Array.from({ length: 300 }, (_, seed) => askedIn(begin!(seed, settings))!);
    const splits = (begin: Reset | undefined) => new Set(drawn(begin).map(({ split }) => split));
    expect(splits(env.reset)).toEqual(new Set(['train']));
    expect(splits(env.demonstration)).toEqual(new Set(['train']));
    expect(splits(env.splits.heldOut?.reset)).toEqual(new Set(['held-out']));
    expect(splits(env.naiveRag)).toEqual(new Set(['held-out']));
    expect(splits(env.splits.entities?.reset)).toEqual(new Set(['unread']));
    expect(splits(env.splits.shifted.reset)).toEqual(new Set(['unread']));
    expect(drawn(env.splits.shifted.reset).every(({ passages }) => passages.length === 2)).toBe(true);
  });

  it('come from well-formed tables, or an error names file and line', () => {
    const passages = '# whose it is\ntitle\ttext\nLyon\ta city on the Rhone River\n';
    const head = 'split\tkind\tquestion\tanswer\tpassages\tqueries\n';
    const good = `${head}train\triver\twhat river is Lyon on\tRhone\tLyon\tLyon\n`;
    expect(readDocuments(passages, good).questions).toHaveLength(1);
    expect(() => readDocuments('title\tbody\n', good)).toThrow(
      /passages.tsv, line 1: found title\tbody, expected title, text/,
    );
    expect(() => readDocuments(`${passages}Bonn\n`, good)).toThrow(/passages.tsv, line 4: found 1 columns, expected 2/);
    expect(() => readDocuments(passages, `${head}test\tx\tx\tx\tx\tx\n`)).toThrow(
      /questions.tsv, question 1: there is no split test. Use one of train, held-out, unread/,
    );
  });
});

describe('names', () => {
  it('are drawn per episode: the same question is written in other slots, common words as they are', () => {
    const written = new Map<string, Set<string>>();
    for (let seed = 0; seed < 2000; seed++) {
      const { question, prompt } = env.reset(seed, settings);
      const slots = prompt.map((id) => env.vocabulary[id] ?? '').filter((word) => /^(name|number|word)\d+$/.test(word));
      expect(slots).toHaveLength(1);
      written.set(question, (written.get(question) ?? new Set()).add(slots[0] ?? ''));
    }
    const asked = [...written.values()].filter((slots) => slots.size > 1);
    expect(asked.length).toBeGreaterThan(100);
    expect(words).toContain('river');
    expect(words.every((word) => word === word.toLowerCase())).toBe(true);
  });

  it('grow as passages are read: the same word in the same slot, in any case', () => {
    for (let seed = 0; seed < 200; seed++) {
      const episode = env.reset(seed, settings);
      const before = new Map(episode.names);
      const { observation } = episode.step(episode.expert(), settings);
      for (const [id, name] of before) expect(episode.names.get(id)).toBe(name);
      const names = [...episode.names.values()].map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
      for (const id of observation) {
        if (/^(name|number|word)\d+$/.test(env.vocabulary[id] ?? '')) expect(episode.names.has(id)).toBe(true);
      }
    }
  });

  it('are enough for what the expert reads, with several passages too', () => {
    for (const topPassages of [1, 3]) {
      const wide = subject('document-search', { topPassages, oneHopShare: 0 });
      for (let seed = 0; seed < 300; seed++) {
        const { success, turns } = expertPlay(wide, seed);
        expect(success).toBe(true);
        const read = turns.flatMap(({ observation }) => observation).map((id) => wide.env.vocabulary[id]);
        expect(read).not.toContain('…');
      }
    }
  });
});

describe('an episode', () => {
  // "what is the capital of the country of X", in training
  const bridge = Array.from({ length: 2000 }, (_, seed) => seed).find((seed) =>
    env.reset(seed, { ...settings, oneHopShare: 0 }).question.startsWith('What is the capital of the country'),
  );
  const begin = () => env.reset(bridge ?? 0, { ...settings, oneHopShare: 0 });

  it('shows the first passage of the index for a query, cut, and pays for each needed passage once', () => {
    const episode = begin();
    const question = askedIn(episode);
    const first = episode.expert();
    const once = episode.step(first, settings);
    expect(said(episode, once.observation).toLowerCase()).toBe(
      `<obs> ${read(question?.passages[0] ?? '').replace(question?.passages[0] ?? '', '$& :')} </obs>`.toLowerCase(),
    );
    expect(once.parts.process).toBe(0.5);
    expect(episode.step(first, settings).parts.process).toBe(0);
  });

  it('searches for nothing with a slot that names nothing yet, and says so', () => {
    const episode = begin();
    const unnamed = env.vocabulary.findIndex(
      (word, id) => /^(name|number|word)\d+$/.test(word) && !episode.names.has(id),
    );
    const [open = 0, close = 0] = ids(episode, ['<call>', '</call>']);
    const result = episode.step([open, unnamed, close], settings);
    expect(said(episode, result.observation)).toBe('<obs> nothing </obs>');
    expect(result).toMatchObject({ valid: true, toolCall: true, parts: { process: 0 } });
    expect(viewOf(episode).searches).toEqual([{ turn: 1, query: '', failed: false, passages: [] }]);
  });

  it('takes one or two words in a call and in an answer, else the turn is malformed', () => {
    for (const text of [
      ['<call>', '</call>'],
      ['<call>', 'river', 'river', 'river', '</call>'],
      ['<answer>', '</answer>'],
      ['<answer>', 'river', 'river', 'river', '</answer>'],
    ]) {
      const episode = begin();
      expect(episode.step(ids(episode, text), settings)).toMatchObject({ valid: false, parts: { outcome: 0 } });
    }
  });

  it('says so when the tool fails, in the view too', () => {
    const failing = { ...settings, failureRate: 1 };
    const episode = begin();
    expect(said(episode, episode.step(episode.expert(), failing).observation)).toBe('<obs> none </obs>');
    expect(viewOf(episode).searches[0]).toMatchObject({ failed: true, passages: [] });
  });

  it('never answers before a passage it needs was found, whatever the expert does in its last turn', () => {
    const episode = begin();
    const failing = { ...settings, failureRate: 1 };
    const { success } = play(episode, failing, () => episode.expert());
    expect(success).toBe(false);
    expect(episode.scores()).toEqual({ exact: 0, contains: 0, f1: 0 });
  });

  it('pays an answer that is right in part by its F1 if so set, and calls it no success', () => {
    for (const [answerReward, paid] of [['exact', 0] as const, ['f1', 2 / 3] as const]) {
      const { env: paying, settings: now } = subject('document-search', { answerReward, oneHopShare: 1 });
      const seed = Array.from({ length: 2000 }, (_, i) => i).find((i) => {
        const question = askedIn(paying.reset(i, now));
        return question && wordsOf(question.answer).length === 2;
      });
      const episode = paying.reset(seed ?? 0, now);
      episode.step(episode.expert(), now);
      const right = episode.expert();
      expect(right).toHaveLength(4);
      const half = episode.step([right[0] ?? 0, right[1] ?? 0, right[3] ?? 0], now);
      expect(half.success).toBe(false);
      expect(half.parts.outcome).toBeCloseTo(paid, 12);
      expect(episode.scores()).toMatchObject({ exact: 0, contains: 0 });
      expect(episode.scores()?.f1).toBeCloseTo(2 / 3, 12);
    }
  });

  it('brings as many passages as asked for, the best first', () => {
    const wide = subject('document-search', { topPassages: 3 });
    const brought = Array.from({ length: 50 }, (_, seed) => {
      const episode = wide.env.reset(seed, wide.settings);
      episode.step(episode.expert(), wide.settings);
      const [search] = viewOf(episode).searches;
      const titles = search?.passages.map(({ title }) => title) ?? [];
      expect(titles).toEqual(corpus.search(search?.query ?? '', 3).map(({ passage }) => passage.title));
      return titles.length;
    });
    expect(Math.max(...brought)).toBe(3);
  });

  it('needs three turns for a question over two passages, and says so', () => {
    const two = { env: 'document-search', maxTurns: 2 };
    expect(() => parseConfig(two)).toThrow(
      /maxTurns: 2, but a question over two passages needs two calls and an answer/,
    );
    expect(parseConfig({ ...two, oneHopShare: 1 }).maxTurns).toBe(2);
  });
});

describe('the view', () => {
  it('marks the words of the query and the answer where the text says them', () => {
    for (let seed = 0; seed < 100; seed++) {
      const { episode } = expertPlay(subject('document-search', { oneHopShare: 0 }), seed);
      const { searches, answer, given, givenAt } = viewOf(episode);
      expect([given?.toLowerCase(), givenAt]).toEqual([answer.toLowerCase(), 3]);
      for (const { query, passages } of searches) {
        const [best] = passages;
        if (!best) throw new Error('want a passage');
        const marked = [
          ...best.titleMarks.map(([from, to]) => best.title.slice(from, to)),
          ...best.marks.map(([from, to]) => best.text.slice(from, to)),
        ].map((word) => word.toLowerCase());
        expect(new Set(marked)).toEqual(new Set(wordsOf(query.toLowerCase())));
        expect(best.gold).toBe(true);
      }
      const last = searches.at(-1)?.passages[0];
      if (last?.answer) expect(last.text.slice(...last.answer)).toBe(answer);
      else expect(last?.title).toBe(answer);
    }
  });
});

describe('naive RAG', () => {
  it('searches once with the words of the question that carry its topic, and then can only answer', () => {
    const { next, vocabulary } = env.grammar(true);
    for (let seed = 0; seed < 100; seed++) {
      const episode = env.naiveRag!(seed, settings);
      const plain = env.splits.heldOut!.reset(seed, settings);
      expect(episode.question).toBe(plain.question);
      const [search] = viewOf(episode).searches;
      const asked = wordsOf(episode.question).map((word) => word.toLowerCase());
      for (const word of wordsOf(search?.query.toLowerCase() ?? '')) expect(asked).toContain(word);
      expect(said(episode, episode.prompt)).toContain(`</call> <obs> ${search?.passages[0]?.title ?? 'nothing'}`);
      const legal = env.vocabulary.filter((_, v) => (next[episode.grammarState * vocabulary + v] ?? -1) >= 0);
      expect(legal).toEqual(['<answer>']);
      expect(episode.prompt.length + 4).toBeLessThanOrEqual(env.maxTokens);
    }
  });
});

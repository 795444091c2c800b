import type { Task } from './environment.d.ts';

// Put your own data here: documents, a question about each, and its answer. Use many rows, each about something else. From thirty rows an agent
// learns the training answers by heart, and does not read the documents.
const ROWS = Array.from({ length: 240 }, (_, i) => guest(101 + i));
// Every seventh question is a test question, which training never asks. The search finds all documents.
const TRAINING = ROWS.filter((_, i) => i % 7 !== 0);
const TEST = ROWS.filter((_, i) => i % 7 === 0);

/** A guest's town, meal or room. */
function guest(number: number) {
  const kind = ['town', 'meal', 'room'].at(number % 3) ?? '';
  const answers = [
    ['Lima', 'Cairo', 'Oslo', 'Quito'],
    ['rice', 'soup', 'fish', 'cake'],
    ['red', 'blue', 'green', 'white'],
  ].at(number % 3);
  const answer = answers?.[Math.floor(number * 1.7) % 4] ?? '';
  return {
    document: `The ${kind} of guest ${number} is ${answer}`,
    question: `What is the ${kind} of guest ${number}?`,
    answer,
  };
}

const DOCUMENTS = ROWS.map(({ document }) => ({ text: document, words: wordsOf(document) }));
const USUAL = DOCUMENTS.reduce((sum, { words }) => sum + words.length, 0) / DOCUMENTS.length; // average number of words in a document
/** For each word, the documents that contain it, and how often. */
const INDEX = new Map<string, Map<number, number>>();
DOCUMENTS.forEach(({ words }, at) => {
  for (const word of words) {
    const counts = INDEX.get(word) ?? new Map<number, number>();
    INDEX.set(word, counts.set(at, (counts.get(at) ?? 0) + 1));
  }
});

/** Search the documents, then answer the question in a few words. */
export default class YourQuestions {
  static tasks = { train: TRAINING.length, test: TEST.length };
  static maxTurns = 4;
  static weights = { exact: 1, overlap: 0.2 };

  private question = '';
  private right = '';
  private found = false;
  private said = '';

  reset({ split, index }: Task): string {
    const row = (split === 'train' ? TRAINING : TEST).at(index);
    this.question = row?.question ?? '';
    this.right = row?.answer ?? '';
    return this.question;
  }

  /**
   * Finds the document that matches these words best.
   * @param words a few words of the question
   */
  search(words: string): string {
    const scores = scoresOf(wordsOf(words).slice(0, 20));
    const best = Math.max(...scores);
    this.found = best > 0;
    return (this.found && DOCUMENTS[scores.indexOf(best)]?.text) || 'nothing';
  }

  /** Receives a text without a call, which is the final answer. It ends the episode. */
  answer(text: string): void {
    this.said = text;
  }

  getReward() {
    const said = wordsOf(this.said);
    const right = wordsOf(this.right);
    const shared = right.filter((word) => said.includes(word)).length;
    const f1 = shared === 0 ? 0 : (2 * shared) / (said.length + right.length);
    return { exact: said.join(' ') === right.join(' ') ? 1 : 0, overlap: f1 };
  }

  /** Searches for the two rarest words of the question, then says the answer. */
  expert() {
    if (this.found) return this.right;
    const rarest = this.question
      .match(/[\p{L}\p{N}]+/gu)
      ?.filter((word) => frequency(word.toLowerCase()) > 0)
      .sort((a, b) => frequency(a.toLowerCase()) - frequency(b.toLowerCase()))
      .slice(0, 2);
    return { tool: 'search', arguments: { words: rarest?.join(' ') ?? '' } };
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function frequency(word: string): number {
  return INDEX.get(word)?.size ?? 0;
}

/** The score of each document. BM25 with k1 = 1.2 and b = 0.75: rare words count more, and words in long documents count less. */
function scoresOf(query: readonly string[]): number[] {
  const scores = DOCUMENTS.map(() => 0);
  for (const word of query) {
    const rarity = Math.log(1 + (DOCUMENTS.length - frequency(word) + 0.5) / (frequency(word) + 0.5));
    INDEX.get(word)?.forEach((here, at) => {
      const length = DOCUMENTS[at]?.words.length ?? 0;
      scores[at] = (scores[at] ?? 0) + (rarity * here * 2.2) / (here + 0.3 + (0.9 * length) / USUAL);
    });
  }
  return scores;
}

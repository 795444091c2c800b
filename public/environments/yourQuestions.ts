import type { Task } from './environment.d.ts';

// Put your own data here. Each line has a document, a question about it, and the answer.
const TRAINING = rowsOf(`
  The town of Ben is Lima | What is the town of Ben? | Lima
  The town of Noor is Cairo | What is the town of Noor? | Cairo
  The town of Ada is Cairo | What is the town of Ada? | Cairo
  The town of Kofi is Oslo | What is the town of Kofi? | Oslo
  The town of Raj is Oslo | What is the town of Raj? | Oslo
  The town of Sara is Lima | What is the town of Sara? | Lima
  The town of Ivo is Oslo | What is the town of Ivo? | Oslo
  The trade of Mira is baker | What is the trade of Mira? | baker
  The trade of Noor is pilot | What is the trade of Noor? | pilot
  The trade of Tom is baker | What is the trade of Tom? | baker
  The trade of Kofi is baker | What is the trade of Kofi? | baker
  The trade of Lena is pilot | What is the trade of Lena? | pilot
  The trade of Sara is nurse | What is the trade of Sara? | nurse
  The trade of Ivo is baker | What is the trade of Ivo? | baker
  The pet of Mira is cat | What is the pet of Mira? | cat
  The pet of Ben is dog | What is the pet of Ben? | dog
  The pet of Tom is dog | What is the pet of Tom? | dog
  The pet of Ada is parrot | What is the pet of Ada? | parrot
  The pet of Lena is dog | What is the pet of Lena? | dog
  The pet of Raj is cat | What is the pet of Raj? | cat
  The pet of Ivo is dog | What is the pet of Ivo? | dog
`);
// Test questions, which training never asks. The search finds these documents too.
const TEST = rowsOf(`
  The town of Mira is Oslo | What is the town of Mira? | Oslo
  The town of Tom is Lima | What is the town of Tom? | Lima
  The town of Lena is Cairo | What is the town of Lena? | Cairo
  The trade of Ben is nurse | What is the trade of Ben? | nurse
  The trade of Ada is nurse | What is the trade of Ada? | nurse
  The trade of Raj is pilot | What is the trade of Raj? | pilot
  The pet of Noor is parrot | What is the pet of Noor? | parrot
  The pet of Kofi is cat | What is the pet of Kofi? | cat
  The pet of Sara is parrot | What is the pet of Sara? | parrot
`);

const DOCUMENTS = [...TRAINING, ...TEST].map(({ document }) => ({ text: document, words: wordsOf(document) }));
const USUAL = DOCUMENTS.reduce((sum, { words }) => sum + words.length, 0) / DOCUMENTS.length; // average number of words in a document
/** The number of documents that contain each word. */
const FREQUENCY = new Map<string, number>();
for (const { words } of DOCUMENTS) for (const word of new Set(words)) FREQUENCY.set(word, frequency(word) + 1);

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
    const query = wordsOf(words).slice(0, 20);
    const scores = DOCUMENTS.map((document) => score(document.words, query));
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

function rowsOf(text: string) {
  return text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((part) => part.trim()))
    .map(([document = '', question = '', answer = '']) => ({ document, question, answer }));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function frequency(word: string): number {
  return FREQUENCY.get(word) ?? 0;
}

/** BM25 with k1 = 1.2 and b = 0.75: rare words count more, and words in long documents count less. */
function score(document: readonly string[], query: readonly string[]): number {
  return query.reduce((sum, word) => {
    const here = document.filter((other) => other === word).length;
    const rarity = Math.log(1 + (DOCUMENTS.length - frequency(word) + 0.5) / (frequency(word) + 0.5));
    return sum + (rarity * here * 2.2) / (here + 0.3 + (0.9 * document.length) / USUAL);
  }, 0);
}

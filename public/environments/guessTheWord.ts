import type { Task } from './environment.d.ts';

const WORDS = 'ant bat bee cat cod cow dog elk emu fox hen owl pig ram rat yak'.split(' ');

/** Guess which of six words is hidden. After a wrong guess you hear whether it comes earlier or later in a dictionary. */
export default class GuessTheWord {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 3;
  static weights = { solved: 1, quick: 0.2 };

  private words: string[] = [];
  private secret = '';
  private guesses: string[] = [];
  done = false;

  reset({ draw }: Task): string {
    this.words = draw.shuffle(WORDS).slice(0, 6).sort();
    this.secret = draw.pick(this.words);
    return this.words.join(' ');
  }

  /**
   * Compares a guess with the hidden word.
   * @param word one of the six words
   */
  guess(word: string): string {
    if (!this.words.includes(word)) throw new Error('not in the list');
    this.guesses.push(word);
    this.done = word === this.secret;
    if (this.done) return 'right';
    return word < this.secret ? 'later' : 'earlier';
  }

  getReward() {
    return { solved: this.done ? 1 : 0, quick: this.done ? 1 - this.guesses.length / 3 : 0 };
  }

  /** Guesses the middle one of the words that are still possible. */
  expert() {
    const fits = (word: string) =>
      this.guesses.every((guess) => word !== guess && word < guess === this.secret < guess);
    const left = this.words.filter(fits);
    return { tool: 'guess', arguments: { word: left[left.length >> 1] ?? this.secret } };
  }
}

import type { Task } from './environment.d.ts';

const WORDS = 'ant bat bee cat cod cow dog elk emu fox hen owl pig ram rat yak'.split(' ');

/** Guess the hidden word. Each letter is marked: G in place, Y elsewhere in the word, - absent. */
export default class GuessTheWord {
  static tasks = { train: 400, test: 100 };
  static maxTurns = 3;
  static weights = { solved: 1, quick: 0.2 };

  private words: string[] = [];
  private secret = '';
  private guesses: string[] = [];
  done = false;

  reset({ draw }: Task): string {
    this.words = draw.shuffle(WORDS).slice(0, 6);
    this.secret = draw.pick(this.words);
    return `One of ${this.words.join(' ')}`;
  }

  /**
   * Marks a guess.
   * @param word one of the words
   */
  guess(word: string): string {
    if (!this.words.includes(word)) throw new Error('That is not one of the words');
    this.guesses.push(word);
    this.done = word === this.secret;
    return marks(word, this.secret);
  }

  getReward() {
    return { solved: this.done ? 1 : 0, quick: this.done ? 1 - this.guesses.length / 3 : 0 };
  }

  /** Guesses a word that agrees with all marks so far. */
  expert() {
    const agrees = (word: string) => this.guesses.every((guess) => marks(guess, word) === marks(guess, this.secret));
    return { tool: 'guess', arguments: { word: this.words.find(agrees) ?? this.secret } };
  }
}

function marks(guess: string, word: string): string {
  return guess
    .split('')
    .map((letter, at) => (letter === word[at] ? 'G' : word.includes(letter) ? 'Y' : '-'))
    .join('');
}

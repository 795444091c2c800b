import type { Task } from './environment.d.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const WORDS = [
  ...[
    'apple',
    'beach',
    'chair',
    'dance',
    'eagle',
    'flame',
    'grape',
    'house',
    'ivory',
    'jolly',
    'knife',
    'lemon',
    'mango',
  ],
  ...[
    'night',
    'ocean',
    'piano',
    'queen',
    'river',
    'snake',
    'tiger',
    'uncle',
    'viola',
    'water',
    'yacht',
    'zebra',
    'bread',
  ],
];

/** Guess a hidden five-letter word. Each guess is marked: G in place, Y elsewhere in the word, - absent. */
export default class GuessTheWord {
  static tasks = { train: 20, test: 6 };
  static maxTurns = 6;
  static weights = { solved: 1, quick: 0.2 };

  private secret = '';
  private guesses: string[] = [];
  done = false;

  reset({ split, index }: Task): string {
    this.secret = WORDS[split === 'train' ? index : 20 + index] ?? '';
    return `Guess my word of five letters. Words I know: ${WORDS.join(', ')}.`;
  }

  /**
   * Guess the word.
   * @param word five small letters
   */
  guess(word: string): string {
    if (word.length !== 5 || word.split('').some((letter) => !LETTERS.includes(letter)))
      throw new Error('Write five small letters.');
    this.guesses.push(word);
    this.done = word === this.secret;
    return word
      .split('')
      .map((letter, at) => (letter === this.secret[at] ? 'G' : this.secret.includes(letter) ? 'Y' : '-'))
      .join('');
  }

  getReward() {
    return { solved: this.done ? 1 : 0, quick: this.done ? 1 - (this.guesses.length - 1) / 6 : 0 };
  }

  expert() {
    return { tool: 'guess', arguments: { word: this.secret } };
  }
}

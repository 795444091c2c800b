import { CompletionContext } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { python } from '@codemirror/lang-python';
import { syntaxTree } from '@codemirror/language';
import { EditorState, type Extension, type Transaction } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { expect, test, vi } from 'vitest';
import { continueComment } from '../../src/ui/editor/Editor.tsx';
import { completeTypeScript } from '../../src/page/environment/completions.ts';
import { completePython } from '../../src/page/environment/pythonCompletions.ts';
import { isListedBelow } from '../../src/ui/editor/ReadingLine.tsx';
import { nameAfterClass } from '../../src/page/environment/templates.ts';
import { codeParts } from '../../src/ui/parts/CodeText.tsx';
import { readFile } from '../../src/written/examination.ts';

/** A file with the cursor at `|`: in TypeScript, or in Python. */
function written(marked: string, language: Extension = javascript({ typescript: true })): EditorState {
  const at = marked.indexOf('|');
  return EditorState.create({ doc: marked.replace('|', ''), selection: { anchor: at }, extensions: language });
}
const offered = (marked: string, explicit = false, isPython = false) => {
  const state = isPython ? written(marked, python()) : written(marked);
  const found = (isPython ? completePython : completeTypeScript)(
    new CompletionContext(state, state.selection.main.head, explicit),
  );
  return (
    found && {
      options: found.options.map(({ label }) => label),
      typed: state.sliceDoc(found.from, state.selection.main.head),
    }
  );
};

test('after “static” the static fields are offered by their whole names, so that another method does not win', () => {
  const found = offered('export default class A {\n  static ta|\n}');
  expect(found?.typed).toBe('static ta');
  expect(found?.options).toContain('static tasks');
});

test('a file that a busy machine has not read yet is offered the same', () => {
  const clock = vi.spyOn(Date, 'now');
  try {
    let now = 0;
    clock.mockImplementation(() => (now += 1000)); // the editor’s slice of 20 ms is over before it has read anything
    const state = written('export default class A {\n  static ta|\n}');
    expect(syntaxTree(state).resolveInner(state.selection.main.head, -1).name).not.toBe('PropertyDefinition');
    clock.mockImplementation(() => now);
    const found = completeTypeScript(new CompletionContext(state, state.selection.main.head, false));
    expect(found?.options.map(({ label }) => label)).toContain('static tasks');
  } finally {
    clock.mockRestore();
  }
});

test('a file without a class is offered a whole one, a file with one is not', () => {
  expect(offered('|', true)?.options).toEqual(['export default class']);
  expect(offered('|')).toBeNull(); // nobody asked
  expect(offered('export default class A {}\n|', true)).toBeNull();
});

const inPython = (marked: string, explicit = false) => offered(marked, explicit, true)?.options;

test('in Python: a file without a class is offered a whole one, which can be played', () => {
  expect(inPython('|', true)).toEqual(['class']);
  expect(inPython('|')).toBeUndefined();
  expect(inPython('class A:\n    pass\n|', true)).toBeUndefined();
  const state = written('|', python());
  const [whole] = completePython(new CompletionContext(state, 0, true))?.options ?? [];
  const view = { state, dispatch: (transaction: Transaction) => (text = transaction.newDoc.toString()) };
  let text = '';
  if (typeof whole?.apply === 'function') whole.apply(view as unknown as EditorView, whole, 0, 0);
  const found = readFile({ name: 'a.py', text });
  expect(found.problem === null && found.declared).toMatchObject({ name: 'MyTask', mistakes: [] });
});

test('in Python: a class is offered the methods and fields that it doesn’t have yet, where a member can begin', () => {
  const head = 'class A:\n    tasks = {}\n\n    def reset(self):\n        self.word = 1\n\n';
  const found = inPython(`${head}    de|`);
  expect(found).toEqual(expect.arrayContaining(['def get_reward', 'def _expert', 'max_turns']));
  expect(found).not.toContain('def reset');
  expect(found).not.toContain('tasks');
  expect(offered(`${head}    def ge|`, false, true)?.typed).toBe('def ge');
  expect(inPython(`${head}        de|`)).toBeUndefined(); // in the method
  expect(inPython(`${head}    # de|`)).toBeUndefined();
});

test('in Python: `self.` offers the members of the class, `random.` what is seeded', () => {
  const head = 'class A:\n    limit = 3\n    def reset(self):\n        self.word, self.n = "a", 1\n        ';
  expect(inPython(`${head}return self.|`)?.toSorted()).toEqual(['done', 'limit', 'n', 'reset', 'word']);
  expect(inPython(`${head}return random.ch|`)).toContain('choice');
  expect(inPython(`${head}return other.|`)).toBeUndefined();
});

/** The text after Enter, with the cursor at `|`; null if the comment has no say in it. */
function entered(marked: string): string | null {
  let state = written(marked);
  if (!continueComment({ state, dispatch: (transaction) => (state = transaction.state) })) return null;
  const { head } = state.selection.main;
  return `${state.sliceDoc(0, head)}|${state.sliceDoc(head)}`;
}

test('Enter goes on with a comment and closes one that was opened; elsewhere it is an ordinary key', () => {
  expect(entered('  /**|')).toBe('  /**\n   * |\n   */');
  expect(entered('  /**|\n   * Says a.\n   */')).toBe('  /**\n   * |\n   * Says a.\n   */');
  expect(entered('  /**\n   * Says a.|\n   */')).toBe('  /**\n   * Says a.\n   * |\n   */');
  expect(entered('  /** Says a. */|')).toBeNull();
  expect(entered('const a = 2;|')).toBeNull();
});

test('a file that began as a template is named after its own class; a name that a person gave stays', () => {
  expect(nameAfterClass('guessTheWord.ts', 'LockedChest', null)).toBe('lockedChest.ts');
  expect(nameAfterClass('hiddenWord.py', 'Chest', null)).toBe('chest.py');
  expect(nameAfterClass('guessTheWord.ts', 'GuessTheWord', null)).toBeNull();
  expect(nameAfterClass('mine.ts', 'LockedChest', null)).toBeNull();
  // a name that came from the class before follows the class again; one that a person chose does not
  expect(nameAfterClass('lockedChest.ts', 'PhoneBook', 'LockedChest')).toBe('phoneBook.ts');
  expect(nameAfterClass('mine.ts', 'PhoneBook', 'LockedChest')).toBeNull();
});

test('a problem that stands below the editor is not said again beside it; code in it is told apart by its backticks', () => {
  const reading = readFile({
    name: 'a.ts',
    text: 'export default class A {\n  async act() { return 1; }\n  reset() { return ""; }\n}',
  });
  if (!reading.problem) throw new Error('the file has a problem');
  expect(isListedBelow(reading, reading.problem)).toBe(true);
  expect(isListedBelow(reading, { ...reading.problem, line: 99 })).toBe(false);
  expect(isListedBelow(undefined, reading.problem)).toBe(false);
  const sound = readFile({
    name: 'a.ts',
    text: 'export default class A {\n  act() { return ""; }\n  reset() { return ""; }\n  getReward() { return this.won; }\n}',
  });
  const [mistake] = sound.problem ? [] : sound.declared.mistakes;
  if (!mistake) throw new Error('the file has a mistake');
  expect(isListedBelow(sound, mistake)).toBe(true);
  expect(codeParts('Use `act` or `go()`.')).toEqual(['Use ', 'act', ' or ', 'go()', '.']);
  expect(codeParts('a ` alone')).toEqual(['a ` alone']);
});

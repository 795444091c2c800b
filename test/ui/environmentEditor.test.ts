import { CompletionContext } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { continueComment } from '../../src/ui/environment/commentLines.ts';
import { complete } from '../../src/ui/environment/completions.ts';
import { nameAfterClass } from '../../src/ui/environment/templates.ts';

/** A TypeScript file with the cursor at `|`. */
function written(marked: string): EditorState {
  const at = marked.indexOf('|');
  return EditorState.create({
    doc: marked.replace('|', ''),
    selection: { anchor: at },
    extensions: javascript({ typescript: true }),
  });
}
const offered = (marked: string, explicit = false) => {
  const state = written(marked);
  const found = complete(new CompletionContext(state, state.selection.main.head, explicit));
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

test('a file without a class is offered a whole one, a file with one is not', () => {
  expect(offered('|', true)?.options).toEqual(['export default class']);
  expect(offered('|')).toBeNull(); // nobody asked
  expect(offered('export default class A {}\n|', true)).toBeNull();
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
  expect(nameAfterClass('guessTheWord.ts', 'LockedChest')).toBe('lockedChest.ts');
  expect(nameAfterClass('hiddenWord.py', 'Chest')).toBe('chest.py');
  expect(nameAfterClass('guessTheWord.ts', 'GuessTheWord')).toBeNull();
  expect(nameAfterClass('mine.ts', 'LockedChest')).toBeNull();
});

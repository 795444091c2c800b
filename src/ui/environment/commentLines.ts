import { syntaxTree } from '@codemirror/language';
import type { StateCommand } from '@codemirror/state';

/** Enter in a block comment: begins the next line with a star, and closes a comment that was just opened. */
export const continueComment: StateCommand = ({ state, dispatch }) => {
  const { main } = state.selection;
  if (!main.empty || syntaxTree(state).resolveInner(main.head, -1).name !== 'BlockComment') return false;
  const line = state.doc.lineAt(main.head);
  const before = line.text.slice(0, main.head - line.from);
  const [, space = '', opens] = /^(\s*)(\/\*\*|\*)(?!\/)/.exec(before) ?? [];
  if (opens === undefined || before.includes('*/')) return false;
  const indent = opens === '*' ? space : `${space} `;
  const next = line.number < state.doc.lines ? state.doc.line(line.number + 1).text : '';
  const closed = opens === '*' || line.text.includes('*/') || /^\s*\*/.test(next);
  const star = `\n${indent}* `;
  dispatch(
    state.update({
      changes: { from: main.head, insert: closed ? star : `${star}\n${indent}*/` },
      selection: { anchor: main.head + star.length },
      userEvent: 'input',
      scrollIntoView: true,
    }),
  );
  return true;
};

import { useEffect, useRef } from 'react';
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { python } from '@codemirror/lang-python';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension, type StateCommand } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { type EnvironmentFile, languageOf } from '../../domain/environmentFile.ts';
import { codeParts } from '../parts/CodeText.tsx';
import { completeTypeScript, nodeAt } from '../../page/environment/completions.ts';
import { completePython } from '../../page/environment/pythonCompletions.ts';
import { useEnvironment, setText } from '../../page/environment/environmentStore.ts';

interface Props {
  readonly label: string;
  readonly describedBy: string; // id of the text that says how to leave the editor with the keyboard
}

export function Editor({ label, describedBy }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? showEditor(box.current, { label, describedBy }) : undefined), [label, describedBy]);
  return <div ref={box} className="editor" translate="no" />;
}

interface Labels {
  readonly label: string;
  readonly describedBy: string; // as in Props
}

function languageExtensions(file: EnvironmentFile): Extension {
  const isPython = languageOf(file) === 'python';
  const completion = autocompletion({ override: [isPython ? completePython : completeTypeScript], icons: false });
  return isPython
    ? [python(), indentUnit.of('    '), EditorState.tabSize.of(4), completion]
    : [javascript({ typescript: true }), indentUnit.of('  '), EditorState.tabSize.of(2), completion];
}

/** Shows the editor in `parent`. Returns a function that removes it. */
function showEditor(parent: HTMLElement, { label, describedBy }: Labels): () => void {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: useEnvironment.getState().file.text,
      extensions: [
        ...[lineNumbers(), highlightActiveLineGutter(), lintGutter(), highlightSpecialChars(), drawSelection()],
        ...[history(), indentOnInput(), bracketMatching(), closeBrackets(), EditorView.lineWrapping],
        syntaxHighlighting(classHighlighter),
        languageExtensions(useEnvironment.getState().file),
        keymap.of([
          ...closeBracketsKeymap,
          { key: 'Enter', run: continueComment },
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-describedby': describedBy,
          spellcheck: 'false',
          tabindex: '0',
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) setText(state.doc.toString());
        }),
      ],
    }),
  });
  showDiagnostics(view);
  const { lineToShow } = useEnvironment.getState();
  if (lineToShow) goToLine(view, lineToShow.line); // requested on another screen
  const stop = useEnvironment.subscribe((current, before) => {
    if (current.openedCount !== before.openedCount && current.file.text !== view.state.doc.toString())
      replaceText(view, current.file.text);
    if (current.reading !== before.reading || current.check !== before.check) showDiagnostics(view);
    if (current.lineToShow && current.lineToShow !== before.lineToShow) goToLine(view, current.lineToShow.line);
  });
  return () => {
    stop();
    view.destroy();
  };
}

/** Shows a line of the file and puts the cursor there. */
function goToLine(view: EditorView, line: number): void {
  const { doc } = view.state;
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
  view.focus();
}

/** Replaces the whole text as one change, so that Ctrl Z brings back the old text. */
function replaceText(view: EditorView, text: string): void {
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    selection: { anchor: 0 },
    effects: EditorView.scrollIntoView(0),
  });
}

/** Marks the lines with problems: those that make the text unreadable, likely mistakes, and what the check found. */
function showDiagnostics(view: EditorView): void {
  const { reading, check } = useEnvironment.getState();
  const { doc } = view.state;
  const text = doc.toString();
  if (reading?.text !== text) return; // this text hasn't been read yet; meanwhile the old marks move with the text
  const diagnostic = (line: number, severity: Diagnostic['severity'], message: string): Diagnostic => {
    const { from, to, text: code } = doc.line(Math.min(Math.max(1, line), doc.lines));
    const start = from + (/^\s*/.exec(code)?.[0].length ?? 0);
    return { from: start, to, severity, message, renderMessage: () => renderedMessage(message) };
  };
  const diagnostics: Diagnostic[] = [];
  const { result } = reading;
  const errors = result.problem ? [result.problem, ...result.others] : [];
  for (const { what, line } of errors) diagnostics.push(diagnostic(line ?? 1, 'error', what));
  const mistakes = result.problem ? [] : result.declared.mistakes;
  for (const { what, line } of mistakes) diagnostics.push(diagnostic(line ?? 1, 'warning', what));
  if (check?.state === 'done' && check.text === text && check.examination.problem === null) {
    for (const { line, kind, text: finding } of check.examination.report.findings)
      if (line !== null && !mistakes.some((each) => each.line === line && each.what === finding))
        diagnostics.push(diagnostic(line, kind === 'fault' ? 'error' : 'warning', finding));
  }
  view.dispatch(
    setDiagnostics(
      view.state,
      diagnostics.toSorted((a, b) => a.from - b.from),
    ),
  );
}

/** A message as the editor shows it: code between backticks looks like code. */
function renderedMessage(message: string): HTMLElement {
  const element = document.createElement('span');
  for (const [i, part] of codeParts(message).entries())
    element.append(i % 2 === 1 ? Object.assign(document.createElement('code'), { textContent: part }) : part);
  return element;
}

/** Handles Enter in a block comment: begins the next line with a star, and closes a comment that was just opened. */
export const continueComment: StateCommand = ({ state, dispatch }) => {
  const { main } = state.selection;
  if (!main.empty || nodeAt(state, main.head).name !== 'BlockComment') return false;
  const line = state.doc.lineAt(main.head);
  const before = line.text.slice(0, main.head - line.from);
  const [, space = '', opens] = /^(\s*)(\/\*\*|\*)(?!\/)/.exec(before) ?? [];
  if (opens === undefined || before.includes('*/')) return false;
  const indent = opens === '*' ? space : `${space} `;
  const next = line.number < state.doc.lines ? state.doc.line(line.number + 1).text : '';
  const isClosed = opens === '*' || line.text.includes('*/') || /^\s*\*/.test(next);
  const star = `\n${indent}* `;
  dispatch(
    state.update({
      changes: { from: main.head, insert: isClosed ? star : `${star}\n${indent}*/` },
      selection: { anchor: main.head + star.length },
      userEvent: 'input',
      scrollIntoView: true,
    }),
  );
  return true;
};

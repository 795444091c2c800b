import { readdirSync } from 'node:fs';
import { snippet } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { MEMBERS } from '../../src/page/environment/members.ts';
import { scoreRemarks } from '../../src/ui/editor/CheckPanel.tsx';
import { EMPTY_TEMPLATES, FIRST_TEMPLATES, TEMPLATES } from '../../src/page/environment/templates.ts';
import { checkEnvironment } from '../../src/written/checker.ts';
import { declarationOf } from '../../src/written/languages.ts';
import { PLAYGROUND_METHODS, readDeclaration } from '../../src/written/script/declaration.ts';
import { sandboxOf } from '../written/machine.ts';

test('every environment that ships is a template, with a title and a sentence; the first one is among them', () => {
  const shipped = readdirSync('public/environments').filter((name) => !name.endsWith('.d.ts'));
  expect(TEMPLATES.map(({ file }) => file.name).toSorted()).toEqual(shipped.toSorted());
  expect(shipped).toEqual(expect.arrayContaining(Object.values(FIRST_TEMPLATES)));
  for (const { title, summary } of TEMPLATES) {
    expect(title).toMatch(/^[A-Z][a-z\- ]+$/);
    expect(summary).toMatch(/^[A-Z].{10,120}\.$/);
  }
});

test('the editor offers every method that the playground calls', () => {
  const offered = MEMBERS.map(({ label }) => label);
  expect(offered).toEqual(expect.arrayContaining(PLAYGROUND_METHODS.filter((name) => name !== 'constructor')));
});

test('an empty class can be read in both languages and, in TypeScript, played without a fault', async () => {
  const [typescript, python] = EMPTY_TEMPLATES.map(({ file }) => file);
  expect(typescript?.name).toBe('myTask.ts');
  expect(python?.name).toBe('myTask.py');
  for (const file of [typescript!, python!]) {
    expect(file.text).not.toContain('${');
    expect(declarationOf(file)).toMatchObject({ name: 'MyTask', tools: [{ name: 'tool' }] });
  }
  const { text } = typescript!;
  const report = await checkEnvironment(readDeclaration(text), () => sandboxOf(text), { episodes: 10, seed: 1 });
  expect(report.findings.filter(({ kind }) => kind === 'fault')).toEqual([]);
  expect(report).toMatchObject({ tasks: 10, differentTasks: 1, expert: 1 }); // its prompt is always the same
});

test('scores that training should know of get a sentence: random calls that earn nothing, broken ones that earn', () => {
  expect(scoreRemarks({ chance: 0.31, expert: 1, nonsense: 0, untrained: null })).toEqual([]);
  expect(scoreRemarks({ chance: 0, expert: 1, nonsense: -0.1, untrained: null })).toEqual([
    expect.stringMatching(/^Random calls earn nothing/),
  ]);
  expect(scoreRemarks({ chance: 0.004, expert: 1, nonsense: 0.08, untrained: null })).toEqual([
    expect.stringMatching(/^Random calls earn almost nothing/),
    expect.stringMatching(/^Broken calls earn 0\.08/),
  ]);
  // RL can start from what a model before training earns
  expect(scoreRemarks({ chance: 0, expert: 1, nonsense: 0, untrained: 0.48 })).toEqual([]);
  expect(scoreRemarks({ chance: 0, expert: 1, nonsense: 0, untrained: 0 })).toHaveLength(1);
  expect(scoreRemarks({ chance: 0, expert: null, nonsense: 0, untrained: null })).toEqual([]); // nothing to imitate
  expect(scoreRemarks({ chance: -0.2, expert: 1, nonsense: 0, untrained: null })).toEqual([]); // its errors are punished, so it acts
});

/** A member as the editor inserts it. */
function inserted(template: string): string {
  let state = EditorState.create();
  snippet(template)({ state, dispatch: (transaction) => (state = transaction.state) }, null, 0, 0);
  return state.doc.toString();
}

test('the members that the editor inserts make a class that can be read and played: each placeholder has a value', async () => {
  const members = MEMBERS.map((member) => inserted(member.snippet));
  const source = `/** A task. */\nexport default class A {\n${members.join('\n')}\n}\n`;
  expect(source).toContain('static tasks = { train: 400, test: 100 };');
  const options = { episodes: 10, seed: 1 };
  const { findings } = await checkEnvironment(readDeclaration(source), () => sandboxOf(source), options);
  // its expert names a secret that this class doesn't have
  const faults = findings.filter(({ kind, text }) => kind === 'fault' && !text.startsWith('expert()'));
  expect(faults).toEqual([]);
});

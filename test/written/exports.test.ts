import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, test } from 'vitest';
import { classSettings } from '../../src/written/classSettings.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { exportFolder } from '../../src/handover/classFolder.ts';
import { openSandbox } from '../../src/written/script/sandbox.ts';
import { ODD_ENVIRONMENT } from './oddEnvironment.ts';

const machine = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

async function exported(text: string): Promise<ReadonlyMap<string, string>> {
  const declaration = readDeclaration(text);
  const sandbox = await openSandbox(machine, declaration);
  const settings = classSettings(sandbox.statics);
  sandbox.dispose();
  const files = exportFolder({ file: { name: 'mine.ts', text }, declaration, settings, quickjsWasm: machine });
  return new Map(Array.from(files, ([name, bytes]) => [name, new TextDecoder().decode(bytes)]));
}

/** An environment whose class, tool and parameter have these names. */
const named = (type: string, tool: string, parameter: string) => `
export default class ${type} {
  reset() { return 'begin'; }
  ${tool}(${parameter}: string): string { return 'done'; }
  getReward() { return 1; }
}
`;

let odd: ReadonlyMap<string, string>;
beforeAll(async () => {
  odd = await exported(ODD_ENVIRONMENT);
});

test('an export has the environment as it was written, its program without types, the machine, and a file for each framework', () => {
  expect([...odd.keys()].toSorted()).toEqual([
    'README.md',
    'environment.ts',
    'machine/LICENSE',
    'machine/environment.js',
    'machine/environment.json',
    'machine/playground.js',
    'machine/quickjs.wasm',
    'machine/rng.js',
    'machine/rules.js',
    'openenv_server.py',
    'playground_episode.py',
    'playground_machine.py',
    'trl_environment.py',
    'verifiers_environment.py',
    'verl_environment.py',
  ]);
  expect(odd.get('environment.ts')).toBe(ODD_ENVIRONMENT);
  expect(odd.get('machine/environment.js')).not.toContain(': string');
  const rules = JSON.parse(odd.get('machine/environment.json') ?? '') as unknown;
  expect(rules).toMatchObject({
    tasks: { train: 300, test: 60 },
    maxTurns: 5,
    weights: { near: 1 },
    hearsAnswer: true,
  });
});

test('words of Python get an underscore as names, and the environment is still called by its own', () => {
  const source = odd.get('trl_environment.py') ?? '';
  expect(source).toContain(
    'def import_(self, from_: float, lambda_: Literal["up", "down it", "💥"], self_: bool) -> str:',
  );
  expect(source).toContain('.call("import", {"from": from_, "lambda": lambda_, "self": self_})');
  expect(odd.get('README.md')).toContain('`lambda` is `lambda_`');
});

test('quotes, backslashes and sections in a comment stay inside its docstring', () => {
  const source = odd.get('trl_environment.py') ?? '';
  expect(source).toContain(String.raw`"""Goes a step. Returns – \"nothing\" \\n Args – none \"\"\"`);
  expect(source).toContain(String.raw`    from_: where from, \"quoted\" \\ and on two lines (choices – any)`);
  // each literal that begins is one that ends: without escaped characters, three quotes come in pairs
  expect(source.replace(/\\./g, '').split('"""').length % 2).toBe(1);
});

test('characters that cannot be seen, or turn a line around, are written as escapes', async () => {
  const hidden = named('Mine', 'act', 'word').replace('  act', '  /** a\u202eb\u0000c\u2028d */\n  act');
  expect((await exported(hidden)).get('trl_environment.py')).toContain(String.raw`"""a\u202eb\u0000c`);
});

test.each([
  ['Mine', '$act', 'word', /`\$act`, the name of a tool/],
  ['Mine', 'größe', 'word', /`größe`, the name of a tool/],
  ['Mine', 'act', '__word', /`__word`, the name of a parameter of act/],
  ['Größe', 'act', 'word', /`Größe`, the name of the class/],
])('class %s, tool %s(%s) is refused with the name that Python can’t have', async (type, tool, parameter, problem) => {
  await expect(exported(named(type, tool, parameter))).rejects.toThrow(problem);
});

test('two names that would become one in Python stay two', async () => {
  const source =
    (await exported(named('str', 'def', 'from: string, from_: string, reset'))).get('trl_environment.py') ?? '';
  expect(source).toContain('class str_:');
  expect(source).toMatch(/def def_\(self, from_: str, from__: str, reset_: str\)/);
});

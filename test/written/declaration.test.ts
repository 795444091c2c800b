import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { toolSchema } from '../../src/text/toolSchema.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';

const OPEN = 'export default class Shop {\n';
const REST = "  reset(): string { return ''; }\n  getReward() { return 1; }\n}\n";

test('public methods are the tools: their comments and types become the schema that models are given', () => {
  const { name, description, tools } = readDeclaration(`
/**
 * Fill the basket,
 * then pay.
 */
${OPEN}  static maxTurns = 3;
  private basket: string[] = [];
  /**
   * Puts something into the basket.
   * @param item what the shop sells
   * @param many - how many of it
   */
  add(item: 'tea' | 'milk', many: number, gift: boolean): string { return item; }
  pay(): string { return this.sum(); }
  private sum(): string { return ''; }
  _hidden(x) {}
  #own(x) {}
  static make(x) {}
  get total() { return 1; }
${REST}`);
  expect([name, description]).toEqual(['Shop', 'Fill the basket, then pay.']);
  expect(tools.map(toolSchema).map(({ function: of }) => of)).toEqual([
    {
      name: 'add',
      description: 'Puts something into the basket.',
      parameters: {
        type: 'object',
        properties: {
          item: { type: 'string', description: 'what the shop sells', enum: ['tea', 'milk'] },
          many: { type: 'number', description: 'how many of it' },
          gift: { type: 'boolean' },
        },
        required: ['item', 'many', 'gift'],
      },
    },
    { name: 'pay', description: '', parameters: { type: 'object', properties: {}, required: [] } },
  ]);
});

test('types are taken away and no line moves', () => {
  const source = `interface Item {\n  readonly name: string;\n}\ntype Many = Item[];\n${OPEN}  private all: Many = [];\n  add(item: string): string { return (item as string)!; }\n${REST}`;
  const { code } = readDeclaration(source);
  expect(code.split('\n')).toHaveLength(source.split('\n').length);
  expect(code.split('\n')[6]).toContain('add(item)');
  expect(() => new Script(code)).not.toThrow(); // it is JavaScript
});

test.each([
  ['no class', 'const a = 1;\n', /no class/, null],
  ['a class that is not exported', 'class A {}\n', /no class/, null],
  ['no reset', `${OPEN}  act(): string { return ''; }\n  getReward() { return 1; }\n}\n`, /reset/, 1],
  [
    'the reward’s name of Python',
    `${OPEN}  act(): string { return ''; }\n  reset(): string { return ''; }\n  get_reward() { return 1; }\n}\n`,
    /`get_reward`.*`getReward`/,
    1,
  ],
  ['no getReward', `${OPEN}  act(): string { return ''; }\n  reset(): string { return ''; }\n}\n`, /getReward/, 1],
  ['no tool', `${OPEN}${REST}`, /no tool/, 1],
  ['a parameter without a type', `${OPEN}  act(word) { return ''; }\n${REST}`, /word.*has no type/, 2],
  ['a parameter of another type', `${OPEN}\n  act(word: string[]) { return ''; }\n${REST}`, /string\[\]/, 3],
  ['parameters taken apart', `${OPEN}  act({ word }: { word: string }) { return ''; }\n${REST}`, /Name each/, 2],
  ['an async tool', `${OPEN}  async act(word: string) { return ''; }\n${REST}`, /async/, 2],
  ['an import', `import x from 'y';\n${OPEN}  act(): string { return x; }\n${REST}`, /only types/, 1],
  ['half a class', `${OPEN}  act(: string\n`, /TypeScript/, 2],
])('a file with %s is refused in words, with its line', (_name, source, says, line) => {
  const read = () => readDeclaration(source);
  expect(read).toThrow(says);
  try {
    read();
  } catch (error) {
    expect(error).toMatchObject({ problems: [{ line }] });
  }
});

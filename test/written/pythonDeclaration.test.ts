import { expect, test } from 'vitest';
import { toolSchema } from '../../src/text/toolSchema.ts';
import { declarationOf } from '../../src/written/languages.ts';
import { readPython } from '../../src/written/python/pythonDeclaration.ts';
import { HIDDEN_WORD } from './pythonMachine.ts';

const REST = '    def reset(self, **kwargs): return ""\n    def get_reward(self): return 1.0\n';

test('public methods are the tools, in the order in which TRL finds them: type hints and docstrings become the schema', () => {
  const { name, description, tools, hasExpert, hearsAnswer } = readPython(`
"""A module."""
from typing import Literal, Optional

class Base:
    def look(self, where: "str") -> str:
        return where

class Shop(Base):
    """Fill the basket,
    then pay."""
    max_turns = 3
    def __init__(self): self.basket = []
    def pay(self) -> str:
        """Pays \\"all\\"."""
    def add(self, item: Literal["tea", 'milk'], many: int, price: Optional[float] = None, *, gift: bool = False, **more) -> str:
        """Puts something into the basket.

        It stays there.

        Args:
            item: what the shop sells,
                by name
            many (int): how many of it

        Returns:
            nothing: ever
        """
    @staticmethod
    def say(word: str | None): return word
    @property
    def total(self): return 1
    @classmethod
    def make(cls, x): return cls()
    def _hidden(self, x): pass
    def _expert(self): return "pay", {}
${REST}
class Last:
    pass
`);
  expect([name, description, hasExpert, hearsAnswer]).toEqual(['Shop', 'Fill the basket, then pay.', true, false]);
  expect(tools.map((tool) => tool.name)).toEqual(['add', 'look', 'pay', 'say']);
  expect(tools[2]?.description).toBe('Pays "all".');
  expect(tools.map(toolSchema)[0]?.function).toEqual({
    name: 'add',
    description: 'Puts something into the basket. It stays there.',
    parameters: {
      type: 'object',
      properties: {
        item: { type: 'string', description: 'what the shop sells, by name', enum: ['tea', 'milk'] },
        many: { type: 'integer', description: 'how many of it' },
        price: { type: 'number' },
        gift: { type: 'boolean' },
      },
      required: ['item', 'many', 'price', 'gift'],
    },
  });
  expect([tools[1], tools[3]].map((tool) => tool?.parameters)).toEqual([
    [{ name: 'where', type: 'string' }],
    [{ name: 'word', type: 'string' }],
  ]);
});

test.each([
  ['no class', 'x = 1\n', null, /no class/],
  ['no reset', 'class A:\n    def get_reward(self): return 1\n', 1, /no `reset/],
  ['no get_reward', '\nclass A:\n    def reset(self): return ""\n', 2, /no `get_reward/],
  ['no tool', `class A:\n${REST}`, 1, /no tool/],
  [
    'no type hint',
    `class A:\n    def act(self,\n            x): pass\n${REST}`,
    3,
    /`x` of the tool `act` has no type hint/,
  ],
  ['another type', `class A:\n    def act(self, x: list[str]): pass\n${REST}`, 2, /`list\[str\]`/],
  ['a list of arguments', `class A:\n    def act(self, *words: str): pass\n${REST}`, 2, /without a name/],
  ['arguments without names', `class A:\n    def act(self, x: str, /): pass\n${REST}`, 2, /without a name/],
  ['an async tool', `class A:\n    async def act(self): pass\n${REST}`, 2, /async/],
])('a class with %s is refused with its line', (_, source, line, says) => {
  expect(() => readPython(source)).toThrow(says);
  expect(() => readPython(source)).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ line })] }));
});

test('the end of a file’s name says its language', () => {
  expect(declarationOf({ name: 'hiddenWord.py', text: HIDDEN_WORD }).language).toBe('python');
  expect(() => declarationOf({ name: 'hiddenWord.ts', text: HIDDEN_WORD })).toThrow(/TypeScript/);
});

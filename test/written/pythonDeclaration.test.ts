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
        price: { type: 'number', nullable: true },
        gift: { type: 'boolean' },
      },
      required: ['item', 'many'],
    },
  });
  expect([tools[1], tools[3]].map((tool) => tool?.parameters)).toEqual([
    [{ name: 'where', type: 'string' }],
    [{ name: 'word', type: 'string', nullable: true }],
  ]);
});

test.each([
  ['no class', 'x = 1\n', null, /no class/],
  ['no reset', 'class A:\n    def get_reward(self): return 1\n', 1, /no `reset/],
  ['no get_reward', '\nclass A:\n    def reset(self): return ""\n', 2, /no `get_reward.*def reward_func\(environments/],
  ['no tool', `class A:\n${REST}`, 1, /no tool/],
  [
    'no type hint',
    `class A:\n    def act(self,\n            x): pass\n${REST}`,
    3,
    /`x` of the tool `act` has no type hint/,
  ],
  ['another type', `class A:\n    def act(self, x: set[str]): pass\n${REST}`, 2, /`set\[str\]`/],
  [
    'a method of TypeScript',
    'class A:\n    def reset(self): return ""\n    def getReward(self): return 1\n',
    1,
    /`getReward`.*`get_reward`/,
  ],
  ['a list of arguments', `class A:\n    def act(self, *words: str): pass\n${REST}`, 2, /without a name/],
  ['arguments without names', `class A:\n    def act(self, x: str, /): pass\n${REST}`, 2, /without a name/],
])('a class with %s is refused with its line', (_, source, line, says) => {
  expect(() => readPython(source)).toThrow(says);
  expect(() => readPython(source)).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ line })] }));
});

/** Names that type hints use, and the schema that Transformers 5.23 makes of each hint. */
const NAMES = `
import enum, typing as t
from enum import Enum, auto
from typing import Annotated, Any, Dict, List, Literal as L, Optional, Tuple, Union
class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"
    ALSO_RED = "red"
class Level(int, Enum):
    LOW = 1
    HIGH = auto()
class Mode(enum.StrEnum):
    FAST = auto()
    SLOW = "slowly"
class Mixed(Enum):
    ONE = 1
    TWO = "two"
    NONE = None
    HALF = -0.5
Way = L["up", "down"]
Number: t.TypeAlias = "int | float"
`;
const HINTS: readonly (readonly [string, object])[] = [
  ['Annotated[int, "the number"]', { type: 'integer' }],
  ['list[int]', { type: 'array', items: { type: 'integer' } }],
  ['List[str]', { type: 'array', items: { type: 'string' } }],
  ['list', { type: 'array' }],
  ['Tuple[int, str]', { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] }],
  ['dict', { type: 'object' }],
  ['Dict[str, float]', { type: 'object', additionalProperties: { type: 'number' } }],
  ['dict[str, list[int]]', { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } }],
  ['Any', {}],
  ['Colour', { type: 'string', enum: ['red', 'green'] }],
  ['Level', { type: 'integer', enum: [1, 2] }],
  ['Mode', { type: 'string', enum: ['fast', 'slowly'] }],
  ['Mixed', { type: ['integer', 'string', 'null', 'number'], enum: [1, 'two', null, -0.5] }],
  ['Optional[Colour]', { type: 'string', enum: ['red', 'green'], nullable: true }],
  ['L[1, 2]', { type: 'integer', enum: [1, 2] }],
  ['L["a", 2, True, None, -3]', { type: ['string', 'integer', 'boolean', 'null'], enum: ['a', 2, true, null, -3] }],
  ['int | str', { type: ['integer', 'string'] }],
  ['Union[str, int, None]', { type: ['integer', 'string'], nullable: true }],
  ['Optional[Union[int, str]]', { type: ['integer', 'string'], nullable: true }],
  [
    'float | list[float] | None',
    { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'number' } }], nullable: true },
  ],
  ['Optional[Way]', { type: 'string', enum: ['up', 'down'], nullable: true }],
  ['Number', { type: ['integer', 'number'] }],
  ['t.Optional[t.List[t.Annotated[int, 1]]]', { type: 'array', items: { type: 'integer' }, nullable: true }],
  ['"list[int]"', { type: 'array', items: { type: 'integer' } }],
  ['list | tuple', { type: 'array' }],
  ['List[Optional[int]]', { type: 'array', items: { type: 'integer', nullable: true } }],
  ['Way | int', { anyOf: [{ type: 'string', enum: ['up', 'down'] }, { type: 'integer' }] }],
  ['list[Way]', { type: 'array', items: { type: 'string', enum: ['up', 'down'] } }],
];

test.each(HINTS)('a parameter of type %s has the schema of TRL', (hint, schema) => {
  const { tools } = readPython(`${NAMES}\nclass A:\n    def act(self, x: ${hint}): pass\n${REST}`);
  expect(tools[0] && toolSchema(tools[0]).function.parameters.properties['x']).toEqual(schema);
});

test('choices at the end of a parameter’s description are its values, as for TRL', () => {
  const doc = '"""Moves.\n\n        Args:\n            way: where (choices: ["up", "down"])\n        """';
  const { tools } = readPython(`class A:\n    def move(self, way: str):\n        ${doc}\n${REST}`);
  expect(tools[0]?.parameters).toEqual([{ name: 'way', type: 'string', enum: ['up', 'down'], description: 'where' }]);
});

test('without get_reward the last class with reset is trained on, if a function of the file reads its state', () => {
  const source = 'class A:\n    def reset(self): return ""\n    def act(self): pass\n';
  const { name, tools } = readPython(`${source}async def pay(completions, *, environments, **kwargs): return [1.0]\n`);
  expect([name, tools.map((tool) => tool.name)]).toEqual(['A', ['act']]);
  expect(() => readPython(`${source}def pay(completions, **kwargs): return [1.0]\n`)).toThrow(/get_reward/);
});

test('a method that has the name of TypeScript, or no underscore, is named as a probable mistake', () => {
  const { mistakes } = readPython(`class A:\n    def act(self): pass\n    def expert(self): pass\n${REST}`);
  expect(mistakes).toEqual([{ what: expect.stringContaining('`_expert`') as string, line: 3 }]);
});

test('the end of a file’s name says its language', () => {
  expect(declarationOf({ name: 'hiddenWord.py', text: HIDDEN_WORD }).language).toBe('python');
  expect(() => declarationOf({ name: 'hiddenWord.ts', text: HIDDEN_WORD })).toThrow(/TypeScript/);
});

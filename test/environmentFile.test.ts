import { expect, test } from 'vitest';
import { environmentTitle } from '../src/domain/serverAddress.ts';

test.each([
  ['mine.ts', 'const a = 1;\nexport default class LockedChest {\n  reset() {}\n}', 'LockedChest'],
  [
    'words.py',
    'class Base:\n    x = 1\n\nclass Hidden(Base):\n    def reset(self, **row):\n        pass\n\nclass Late:\n    y = 2',
    'Hidden',
  ],
  ['empty.ts', '', 'empty.ts'],
  ['odd\u202e.py', 'x = 1', 'odd‹U+202E›.py'],
  ['server.txt', 'ws://127.0.0.1:8000/ws', '127.0.0.1:8000'],
])('%s is called by its class, by its server, or without either by its name', (name, text, title) => {
  expect(environmentTitle({ name, text })).toBe(title);
});

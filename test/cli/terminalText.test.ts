import { expect, test } from 'vitest';
import { terminalText } from '../../src/cli/progressBar.ts';

test('no control character but a tab and a line’s end reaches the terminal, and JSON stays the same', () => {
  const all = Array.from({ length: 0xa1 }, (_, code) => String.fromCharCode(code)).join('');
  expect(terminalText(all)).not.toMatch(/(?![\t\n])\p{Cc}/u);
  expect(terminalText('a\x1b[31mb\x9bc\rd\te\nf é')).toBe('a\\u001b[31mb\\u009bc\\u000dd\te\nf é');
  expect(JSON.parse(terminalText(JSON.stringify({ all })))).toEqual({ all });
});

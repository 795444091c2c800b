import { expect, test } from 'vitest';
import { joined, piecesOf } from '../tools/wgslPieces.ts';

const none = (name: string) => {
  throw new Error(`no piece ${name}`);
};

test('a piece stands where it is named, with those it names itself, and nothing of the directives is left', () => {
  const pieces: Readonly<Record<string, string>> = { outer: '// outer\n//! piece inner\n', inner: 'fn f() {}\n' };
  const text = '// k\n//! piece outer\nfn main() {}\n';
  expect(joined(text, (name) => pieces[name] ?? none(name))).toBe('// k\n// outer\nfn f() {}\nfn main() {}\n');
  expect(piecesOf(text)).toEqual(['outer']);
  expect(() => joined('//! piece other', none)).toThrow('no piece other');
});

test('lines of an each are written out with its number, one within another, and sums and products of them', () => {
  const text = ['//! each g 0..1', 'u$g;', '  //! each q 0..2', '  c${4*g+q} = u$g[$q];', '  //! end', '//! end', 'x'];
  expect(joined(text.join('\n'), none).split('\n')).toEqual([
    ...['u0;', '  c0 = u0[0];', '  c1 = u0[1];', '  c2 = u0[2];'],
    ...['u1;', '  c4 = u1[0];', '  c5 = u1[1];', '  c6 = u1[2];', 'x'],
  ]);
  expect(joined('//! each r 2..3\na${r+4} = low[$r];\n//! end', none)).toBe('a6 = low[2];\na7 = low[3];');
});

test('a source without directives stays as it is; one that can’t be read is refused', () => {
  const plain = '// a\nfn main() { let x = 1u; }\n';
  expect(joined(plain, none)).toBe(plain);
  expect(() => joined('//! each r 0..3\nc$r\n', none)).toThrow('has no end');
  expect(() => joined('//! twice\n', none)).toThrow('can’t be read');
  expect(() => joined('//! end\n', none)).toThrow('can’t be read');
  expect(() => joined('let y = $q;', none)).toThrow('q is neither a number');
});

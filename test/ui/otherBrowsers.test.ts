import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = 'src/ui';
/** Every declaration of the styles: "file property: value". */
const declarations = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
  if (!file.endsWith('.css')) return [];
  const css = readFileSync(`${FOLDER}/${file}`, 'utf8').replace(/\/\*[^]*?\*\//g, '');
  return Array.from(
    css.matchAll(/(?<=[{;]\s*)([\w-]+):\s*([^;{}]+);/g),
    ([, property = '', value = '']) => `${file} ${property}: ${value.replace(/\s+/g, ' ')}`,
  );
});

test('no underline is hidden in Safari, which takes the shorthand with a style only where the build can prefix it', () => {
  expect(declarations.length).toBeGreaterThan(1000);
  expect(declarations.filter((entry) => /^\S+ text-decoration: .*var\(/.test(entry))).toEqual([]);
});

test('no hatch is a filled area in Firefox, which fills the gaps of a repeating gradient with a mixed colour', () => {
  // a variable may hold the mix, as the ones of the theme do not
  const mixed = declarations.flatMap((entry) => /^\S+ (--[\w-]+): color-mix/.exec(entry)?.[1] ?? []);
  const repeating = declarations.filter((entry) => entry.includes('repeating-'));
  expect(repeating.length).toBeGreaterThan(0);
  const colours = ['color-mix(', ...mixed.map((name) => `var(${name})`)];
  expect(repeating.filter((entry) => colours.some((colour) => entry.includes(colour)))).toEqual([]);
});

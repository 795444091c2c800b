import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { BREAKPOINTS } from '../../src/page/browser/breakpoints.ts';

const SHEETS = readdirSync('src/ui', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.css'))
  .map((file) => ({ name: basename(file), css: readFileSync(`src/ui/${file}`, 'utf8') }));

/** Sizes outside of the scales of theme.css, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'base.css font-size: 0.95em': 'keys and code in whatever text they stand in',
  'header.css font-size: 0': 'the brand is the sign alone, its name still read out',
  'run.css font-size: 0': 'the sign alone says that all is well',
  'preferences.css font-size: 0': 'on a phone the letter alone names who speaks',
  'knobs.css margin-top: -5px': 'half of what the thumb of a slider is higher than its track',
  'boundary.css padding-top: 60px': 'room for the links to the places, which lie over a broken screen',
  'knobs.css padding: 0 24px 0 var(--space-4)': 'the switch: room for its knob',
  'knobs.css padding: 0 var(--space-4) 0 24px': 'the switch: room for its knob',
  'header.css padding: 0 calc(var(--screens, 330px) + 20px) 0 var(--space-5)':
    'the header: room for the places, which lie over it',
  'play.css padding: var(--space-1) 0 var(--space-1) 98px':
    'as wide as the label before a span, so that words stand below words',
  'stage.css margin: 0 2.5%':
    'the numbers to press stand above their places on the line, which has that much beside it',
  'tokens.css padding-left: 98px': 'as wide as the label before a span, so that words stand below words',
  'why.css padding-left: 28px': 'as wide as the tick before other bars',
  'why.css padding-left: 50px': 'as wide as the tick before other bars, on a phone',
};

/** What a style says of type and of space: "file property: value". */
function said(): string[] {
  return SHEETS.filter(({ name }) => name !== 'theme.css').flatMap(({ name, css }) =>
    Array.from(
      css
        .replace(/\/\*[^]*?\*\//g, '')
        .matchAll(/(?<![-\w])(font|font-size|(?:padding|margin)(?:-\w+)*|(?:row-|column-)?gap):\s*([^;]+);/g),
      ([, property = '', value = '']) => `${name} ${property}: ${value.replace(/\s+/g, ' ')}`,
    ),
  );
}

/** Whether nothing but the scale is used; a pixel more or less is a line's width. */
function keeps(entry: string): boolean {
  const [, property = '', value = ''] = /^\S+ ([\w-]+): (.+)$/.exec(entry) ?? [];
  if (property.startsWith('font')) return value === 'inherit' || /^var\(--type-[1-6]\)/.test(value);
  const rest = value.replace(/var\(--space-[1-6]\)|env\([^)]*\)/g, '').replaceAll('calc(-1 * )', '');
  return rest.split(/\s+/).every((part) => ['', '0', '1px', '-1px', 'auto'].includes(part));
}

test('every size of type and every padding, margin and gap is one of the scales, but for the exceptions', () => {
  const all = said();
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter((entry) => !keeps(entry) && !(entry in EXCEPTIONS))).toEqual([]);
  expect(Object.keys(EXCEPTIONS).filter((entry) => !all.includes(entry))).toEqual([]);
});

test('what is outside of the scale is seen as such', () => {
  expect(keeps('a.css padding: var(--space-2) 0 1px')).toBe(true);
  expect(keeps('a.css margin: calc(-1 * var(--space-4)) auto 0')).toBe(true);
  expect(keeps('a.css font: var(--type-2) / 1.45 var(--mono)')).toBe(true);
  for (const wrong of [
    'gap: 7px',
    'padding: var(--space-7)',
    'margin: 0 5px',
    'font-size: 12px',
    'font: 12px var(--mono)',
  ])
    expect(keeps(`a.css ${wrong}`)).toBe(false);
});

test('the scales have six sizes of type and six spaces, each larger than the one before', () => {
  const theme = readFileSync('src/ui/styles/theme.css', 'utf8');
  for (const [name, count] of [
    ['type', 6],
    ['space', 6],
  ] as const) {
    const sizes = Array.from(theme.matchAll(new RegExp(`--${name}-(\\d): ([\\d.]+)px;`, 'g')), ([, , size]) =>
      Number(size),
    );
    expect(sizes).toHaveLength(count);
    expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => a - b));
  }
});

/** Widths and heights that a text asks of the window, as it writes them. */
function sizesAsked(text: string): string[] {
  const medias = Array.from(
    text.matchAll(/@media ([^{]+) \{|matchMedia\(['"`]([^'"`]+)/g),
    ([, css, script]) => css ?? script,
  );
  return medias.filter((media) => media !== undefined).filter((media) => /width|height/.test(media));
}

test('style sheets and scripts ask for a width or a height of the window in the words of one list, every one of which is used', () => {
  const scripts = ['src/page', 'src/ui'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')] as const),
  );
  const list: readonly string[] = Object.values(BREAKPOINTS);
  const sheets = SHEETS.map(({ name, css }) => [name, css] as const);
  const asked = [...sheets, ...scripts].flatMap(([name, text]) => sizesAsked(text).map((media) => ({ name, media })));
  expect(asked.filter(({ media }) => !list.includes(media))).toEqual([]);
  expect(list.filter((media) => !asked.some((each) => each.media === media))).toEqual([]);
  expect(sizesAsked("@media (max-width: 600px) {}\nmatchMedia('(height < 9px)')")).toEqual([
    '(max-width: 600px)',
    '(height < 9px)',
  ]);
});

test('a style sheet asks for a width or a height once: all that holds there stands in one block', () => {
  for (const { name, css } of SHEETS) {
    const asked = sizesAsked(css);
    expect(asked, name).toEqual([...new Set(asked)]);
  }
});

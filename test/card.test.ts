import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { card, siteAddress } from '../tools/card-plugin.ts';

interface Tag {
  readonly attrs: Readonly<Record<string, string>>;
}

/** What the built page says of itself, by property or name. */
function tagsOf(setting: string | undefined): Readonly<Record<string, string>> {
  const { transformIndexHtml } = card({ title: 'A title', description: 'A sentence' }, siteAddress(setting));
  const tags = (transformIndexHtml as unknown as () => readonly Tag[])();
  return Object.fromEntries(
    tags.map(({ attrs }) => [attrs['property'] ?? attrs['name'] ?? '', attrs['content'] ?? '']),
  );
}

test('the built page names its picture by its whole address in any folder, and relatively where no address is set', () => {
  const tags = tagsOf('https://ada.github.io/a/b');
  expect(tags).toMatchObject({
    'og:title': 'A title',
    'og:description': 'A sentence',
    description: 'A sentence',
    'og:url': 'https://ada.github.io/a/b/',
    'og:image': 'https://ada.github.io/a/b/card.png',
    'twitter:image': 'https://ada.github.io/a/b/card.png',
    'twitter:card': 'summary_large_image',
  });
  expect(tagsOf('')['og:image']).toBe('./card.png');
  expect(tagsOf(undefined)).not.toHaveProperty('og:url');
});

test('the picture has the size that the page says, and at most 150 kB', () => {
  const tags = tagsOf(undefined);
  const png = readFileSync('public/card.png');
  expect([png.readUInt32BE(16), png.readUInt32BE(20)].map(String)).toEqual([
    tags['og:image:width'],
    tags['og:image:height'],
  ]);
  expect(statSync('public/card.png').size).toBeLessThan(150_000);
});

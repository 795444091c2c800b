import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ISOLATION } from '../scripts/page-policy.mjs';
import { SPACE_ATTRIBUTES, spaceReadme } from '../scripts/space.mjs';

/** Keys and values of a README's settings; those of `custom_headers` with its name before them. */
function settings(readme: string): Readonly<Record<string, string>> {
  const [, block = ''] = /^---\n([\s\S]*?)\n---\n/.exec(readme) ?? [];
  let above = '';
  const found: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, indent = '', key = '', value = ''] = /^( *)([\w-]+):(?: (.*))?$/.exec(line) ?? [];
    if (indent === '') above = key;
    found[indent === '' ? key : `${above}.${key}`] = value;
  }
  return found;
}

test('a Space is static, begins at the built page, and sends the three headers that threads need', () => {
  const { sdk, app_file, short_description = '', ...rest } = settings(spaceReadme());
  expect({ sdk, app_file }).toEqual({ sdk: 'static', app_file: 'index.html' });
  expect(short_description.length).toBeLessThanOrEqual(60); // Hugging Face refuses a longer one
  const headers = Object.fromEntries(
    Object.entries(rest).flatMap(([key, value]) =>
      key.startsWith('custom_headers.') ? [[key.slice('custom_headers.'.length), value]] : [],
    ),
  );
  expect(headers).toEqual({ ...ISOLATION, 'cross-origin-resource-policy': 'cross-origin' });
});

test('git keeps recordings and weights of a Space in LFS, and dist-space out of this repository', () => {
  for (const name of ['*.recording', '*.safetensors']) expect(SPACE_ATTRIBUTES).toContain(`${name} filter=lfs`);
  expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('dist-space');
});

import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MEMBERS } from '../../src/ui/environment/members.ts';
import { FIRST_TEMPLATE, TEMPLATES } from '../../src/ui/environment/templates.ts';
import { OWN_METHODS } from '../../src/written/declaration.ts';

test('every environment that ships is a template, with a title and a sentence; the first one is among them', () => {
  const shipped = readdirSync('public/environments').filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
  expect(TEMPLATES.map(({ file }) => file.name).toSorted()).toEqual(shipped.toSorted());
  expect(shipped).toContain(FIRST_TEMPLATE);
  for (const { title, sentence } of TEMPLATES) {
    expect(title).toMatch(/^[A-Z][a-z\- ]+$/);
    expect(sentence).toMatch(/^[A-Z].{10,120}\.$/);
  }
});

test('the editor offers every method that the playground calls', () => {
  const offered = MEMBERS.map(({ label }) => label);
  expect(offered).toEqual(expect.arrayContaining(OWN_METHODS.filter((name) => name !== 'constructor')));
});

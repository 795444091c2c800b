import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TestProject, TestSpecification, Vitest } from 'vitest/node';
import { LONGEST, LongestFirst } from '../tools/longestFirst.ts';

test('every file that is begun first is there', () => {
  expect(LONGEST.filter((file) => !existsSync(file))).toEqual([]);
});

test('in each project the files named as long begin, in their order; the others follow by size, and those of the page last', async () => {
  const sizes: Readonly<Record<string, number>> = { 'small.test.ts': 1, 'large.test.ts': 9 };
  const context = {
    config: { root: '/' },
    cache: {
      getFileTestResults: () => undefined,
      getFileStats: (key: string) => ({ size: sizes[key.split(':')[1] ?? ''] ?? 5 }),
    },
  } as unknown as Vitest;
  const project = (name: string) =>
    ({ name, config: { sequence: { groupOrder: 0 }, isolate: true } }) as unknown as TestProject;
  const [first, second] = [project('a'), project('b')];
  const files = [
    [second, 'test/ui/other.test.ts'],
    [second, 'small.test.ts'],
    [second, LONGEST[1]],
    [first, 'small.test.ts'],
    [second, LONGEST[0]],
    [second, 'large.test.ts'],
  ] as const;
  const specifications = files.map(
    ([of, file]) => ({ project: of, moduleId: `/${file}` }) as unknown as TestSpecification,
  );
  const sorted = await new LongestFirst(context).sort(specifications);
  expect(sorted.map(({ project: { name }, moduleId }) => [name, moduleId.slice(1)])).toEqual([
    ['a', 'small.test.ts'],
    ['b', LONGEST[0]],
    ['b', LONGEST[1]],
    ['b', 'large.test.ts'],
    ['b', 'small.test.ts'],
    ['b', 'test/ui/other.test.ts'],
  ]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('no style moves without end: an animation that never stops has the browser draw at each frame, and nobody can pause it', () => {
  const styles = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));
  const texts = styles.map((name) => readFileSync(`src/${name}`, 'utf8'));
  expect(texts.join('')).toContain('animation:');
  expect(styles.filter((_, i) => /\binfinite\b/.test(texts[i] ?? ''))).toEqual([]);
});

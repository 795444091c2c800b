import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast, deltaE, type Rgb, simulate, type Vision } from './colour.ts';

const css = readFileSync(new URL('../../src/ui/styles/theme.css', import.meta.url), 'utf8');
const ROLES = ['prompt', 'think', 'call', 'observation', 'answer'];

function rgb(hex: string): Rgb {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return [part(1), part(3), part(5)];
}

/** A colour of theme.css in one theme. */
function colour(name: string, theme: 'light' | 'dark'): Rgb {
  const found = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  if (!found) throw new Error(`theme.css has no --${name}`);
  return rgb(found[theme === 'light' ? 1 : 2] ?? '');
}

for (const theme of ['light', 'dark'] as const) {
  test.each(ROLES)(`${theme}: role %s is legible on the base surface`, (role) => {
    expect(contrast(colour(`role-${role}`, theme), colour('base', theme))).toBeGreaterThanOrEqual(4.5);
  });

  test.each<Vision>(['normal', 'protan', 'deutan', 'tritan'])(`${theme}: roles differ in %s vision`, (vision) => {
    const seen = ROLES.map((role) => simulate(colour(`role-${role}`, theme), vision));
    const distances = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => deltaE(a, b)));
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(12);
  });

  test.each(['ink', 'ink-2', 'ink-3', 'accent', 'warn', 'bad'])(
    `${theme}: --%s is legible on every surface`,
    (name) => {
      for (const surface of ['base', 'raised', 'page']) {
        expect(contrast(colour(name, theme), colour(surface, theme))).toBeGreaterThanOrEqual(4.5);
      }
    },
  );
}

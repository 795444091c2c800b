import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { groupOutlook } from '../../src/domain/passGate.ts';

type Row = readonly [p: number, size: number, degenerate: number, spread: number];
/** `degenerate_fraction` and `sigma_exact_law` of rlvr-audit 0.1.0 (PyPI). */
const ROWS = JSON.parse(readFileSync('test/fixtures/rlvr-audit-0.1.0.json', 'utf8')) as readonly Row[];

test('dead groups and the expected spread are those of rlvr-audit 0.1.0', () => {
  expect(ROWS.length).toBe(30);
  for (const [p, size, degenerate, spread] of ROWS) {
    const outlook = groupOutlook(p, size);
    expect(Math.abs(outlook.dead - degenerate), `dead, ${p}, ${size}`).toBeLessThanOrEqual(1e-9);
    expect(Math.abs(outlook.spread - spread), `spread, ${p}, ${size}`).toBeLessThanOrEqual(1e-9);
  }
});

test('dead groups are split into all right and all wrong', () => {
  expect(groupOutlook(0.5, 2)).toEqual({ allRight: 0.25, allWrong: 0.25, dead: 0.5, spread: 0.25 });
  expect(groupOutlook(1, 8)).toMatchObject({ allRight: 1, allWrong: 0 });
});

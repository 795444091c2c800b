import { inject, type TestContext } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    weekly: boolean; // `npm run test:weekly`
  }
}

export const isWeekly = inject('weekly');

/** All rows in `npm run test:weekly`, else the first `count`: those that show the claim where the others repeat it. */
export const firstRows = <T>(rows: readonly T[], count: number): readonly T[] =>
  isWeekly ? rows : rows.slice(0, count);

/** Leaves a test to `npm run test:weekly`; `inCi` says where its claim stands in CI. */
export const leaveToWeekly = ({ skip }: TestContext, inCi: string): void =>
  skip(!isWeekly, `weekly, as CI has ${inCi}`);

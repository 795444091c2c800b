import { expect } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role, type Grammar, type TokenRecord } from '../../src/domain/tokens.ts';
import type { DecodeChunk, DecodedChunk, Sampling } from '../../src/model/decoding.ts';
import type { Policy, SuppliedCredit } from '../../src/model/policy.ts';
import { someCredit } from './policies.ts';

/**
 * Rows of several contexts, and the same contexts each as a row of its own, with credit for both. Of the contexts of a
 * row, every second repeats the one before it and goes on. Drawn tokens are legal in state 2 of `oddGrammar`. `places` has the (B,T) indices of each token in both.
 */
export function contextRecords(vocabulary: number, length: number, counts: readonly number[]) {
  const draw = random(21, Purpose.demonstration);
  const empty = (rows: number) => ({
    tokens: new Int32Array(rows * length),
    roles: new Uint8Array(rows * length),
    states: new Uint8Array(rows * length),
    contextStarts: new Int32Array(rows * length),
  });
  const [joined, apart] = [empty(counts.length), empty(counts.reduce((a, b) => a + b))];
  const places: { readonly joined: number; readonly apart: number; readonly first: boolean }[] = [];
  let contexts = 0;
  for (const [row, count] of counts.entries()) {
    let [start, before] = [0, [] as number[]];
    for (let k = 0; k < count; k++) {
      const shown = k % 2 === 1 ? before : [];
      const fresh = Array.from({ length: 3 + draw.int(3) }, (_, i) => draw.int(shown.length + i > 1 ? 6 : vocabulary)); // prettier-ignore
      const tokens = [...shown, ...fresh];
      for (const [t, token] of tokens.entries()) {
        const place = { joined: row * length + start + t, apart: contexts * length + t, first: t === 0 };
        const drawn = t > Math.max(1, shown.length);
        for (const [record, at] of [
          [joined, place.joined],
          [apart, place.apart],
        ] as const) {
          // prettier-ignore
          record.tokens[at] = token;
          record.roles[at] = drawn ? Role.action : Role.prompt;
          record.states[at] = drawn ? 2 : 0;
        }
        joined.contextStarts[place.joined] = start;
        places.push(place);
      }
      contexts++;
      start += tokens.length;
      before = tokens;
    }
    expect(start).toBeLessThanOrEqual(length);
  }
  const { contextStarts: _, ...apartRecord } = apart;
  const credit = someCredit(joined, [Role.action]);
  const moved = Object.fromEntries(
    Object.entries(credit).map(([name, array]: [string, Float32Array]) => {
      const to = new Float32Array(apart.tokens.length);
      for (const { joined: from, apart: at } of places) to[at] = array[from]!;
      return [name, to];
    }),
  ) as unknown as SuppliedCredit;
  return { joined: joined as TokenRecord, apart: apartRecord as TokenRecord, rows: contexts, places, credit, moved };
}

/** The largest difference between two arrays, of which neither is all zeros. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  expect(Array.from(a).some((x) => x !== 0)).toBe(true);
  return Math.max(...Array.from(a, (x, i) => Math.abs(x - b[i]!)));
}

/**
 * Plays rows of three contexts, forced in chunks of up to `chunk` tokens, and draws up to four tokens in each, in even rows
 * after the others. All rows' first two contexts begin alike. The third of an even row repeats its second, that of an odd row
 * begins as its first.
 */
export async function playContexts(policy: Policy, grammar: Grammar, sampling: Sampling, chunk: number) {
  const { rows } = policy;
  policy.setGrammar(grammar);
  policy.begin(sampling);
  const tokens = Array.from({ length: rows }, () => [] as number[]);
  const drawn: { readonly row: number; readonly at: number; readonly logprob: number }[] = [];
  const decode = async (change: Partial<DecodeChunk>): Promise<DecodedChunk> => {
    const none = { states: new Int32Array(rows).fill(-1), budgets: new Int32Array(rows) };
    const forced = { forced: new Int32Array(rows * chunk), forcedCounts: new Int32Array(rows) };
    const given = { maxTokens: chunk, forcedRoles: new Int32Array(rows).fill(Role.prompt), ...none, ...forced, ...change }; // prettier-ignore
    const result = await policy.decode(given);
    for (let row = 0; row < rows; row++) {
      tokens[row]!.push(...given.forced.subarray(row * chunk, row * chunk + given.forcedCounts[row]!));
      for (let i = 0; i < result.counts[row]!; i++) {
        drawn.push({ row, at: tokens[row]!.length, logprob: result.logprobs[row * chunk + i]! });
        tokens[row]!.push(result.tokens[row * chunk + i]!);
      }
    }
    return result;
  };
  const contextStarts = new Int32Array(rows * policy.length);
  const starts = new Array<number>(rows).fill(0);
  for (let k = 0; k < 3; k++) {
    const repeated = tokens.map((before, row) => before.slice(starts[row]));
    const waiting = repeated.map((before, row) => [...(k === 2 && row % 2 === 0 ? before : [7 + (k % 2)]), 8 + row]);
    for (const [row, { length }] of tokens.entries()) starts[row] = length;
    let isFirst = true;
    while (waiting.some((left) => left.length > 0)) {
      const forced = new Int32Array(rows * chunk);
      const forcedCounts = Int32Array.from(waiting, (left, row) => {
        const now = left.splice(0, chunk);
        forced.set(now, row * chunk);
        return now.length;
      });
      await decode({ forced, forcedCounts, ...(isFirst && k > 0 && { restarts: new Uint8Array(rows).fill(1) }) });
      isFirst = false;
    }
    const state = new Int32Array(rows).fill(1);
    for (const first of [1, 0]) {
      const budgets = Int32Array.from(state, (_, row) => (row % 2 === first ? 4 : 0));
      while (budgets.some((budget) => budget > 0)) {
        const states = state.map((s, row) => (budgets[row]! > 0 ? s : -1));
        const { counts, tokens: ids } = await decode({ states, budgets });
        for (let row = 0; row < rows; row++) {
          for (const id of ids.subarray(row * chunk, row * chunk + counts[row]!))
            state[row] = grammar.next[state[row]! * grammar.vocabulary + id]!;
          budgets[row] = grammar.stop[state[row]!] === 1 ? 0 : budgets[row]! - counts[row]!;
        }
      }
    }
    for (const [row, { length }] of tokens.entries())
      contextStarts.fill(starts[row]!, row * policy.length + starts[row]!, row * policy.length + length);
  }
  return { tokens, drawn, contextStarts };
}

/** Checks that scoring gives the drawn tokens the log-probabilities with which they were drawn, and the first of each context 0. */
export async function expectScoresOfDraws(
  policy: Policy,
  { drawn, contextStarts, tokens }: Awaited<ReturnType<typeof playContexts>>,
  temperature: number,
  tolerance: number,
): Promise<void> {
  await policy.score(temperature, { reference: false, values: false });
  const { logprobs } = await policy.report();
  const off = drawn.map(({ row, at, logprob }) => Math.abs(logprobs[row * policy.length + at]! - logprob));
  expect(Math.max(...off)).toBeLessThan(tolerance);
  expect(off.length).toBeGreaterThan(15);
  for (const [row, { length }] of tokens.entries()) {
    const firsts = contextStarts.subarray(row * policy.length, row * policy.length + length);
    expect(new Set(firsts).size).toBe(3);
    for (const t of firsts) expect(logprobs[row * policy.length + t]).toBe(0);
  }
}

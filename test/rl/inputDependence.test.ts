import { describe, expect, test } from 'vitest';
import { inputDependence } from '../../src/rl/inputDependence.ts';
import { random } from '../../src/rng.ts';

const N = 9;
/** log-probabilities of N turns under N contexts, drawn anew for every pair. */
function noise(seed: number, scale: number): number[][] {
  const draw = random(seed, 8);
  return Array.from({ length: N }, () => Array.from({ length: N }, () => -4 + scale * draw.normal()));
}

describe('input dependence', () => {
  test('T61 turns that could only follow their own context carry log N nats, and no more can be carried', () => {
    const certain = Array.from({ length: N }, (_, i) => Array.from({ length: N }, (_c, j) => (i === j ? -1 : -400)));
    const { mutualInformation, retrievalAccuracy, chance } = inputDependence(certain);
    expect(mutualInformation).toBeCloseTo(Math.log(N), 12);
    expect(retrievalAccuracy).toBe(1);
    expect(chance).toBe(1 / N);
    for (let seed = 1; seed <= 50; seed++) {
      expect(inputDependence(noise(seed, 30)).mutualInformation).toBeLessThanOrEqual(Math.log(N));
    }
  });

  test('T61 turns that ignore what was read carry nothing, and are found again by chance only', () => {
    const deaf = Array.from({ length: N }, (_, i) => new Array<number>(N).fill(-2 - i));
    const { mutualInformation, retrievalAccuracy } = inputDependence(deaf);
    // rounding of nine exps
    expect(mutualInformation).toBeCloseTo(0, 12);
    expect(retrievalAccuracy).toBeCloseTo(1 / N, 12);
  });

  test('T61 handing the turns to the wrong contexts leaves no information on average', () => {
    // each turn is 3 nats likelier after its own context; shifting the columns by one undoes that
    const bound = (shift: number) =>
      Array.from({ length: N }, (_, i) => Array.from({ length: N }, (_c, j) => (j === (i + shift) % N ? -1 : -4)));
    expect(inputDependence(bound(0)).mutualInformation).toBeGreaterThan(0.8);
    expect(inputDependence(bound(1)).mutualInformation).toBeLessThan(0);
    expect(inputDependence(bound(1)).retrievalAccuracy).toBe(0);
  });

  test('two contexts, worked by hand: ½·(log(.8/.5) + log(.6/.5)) nats', () => {
    const likelihood = [
      [Math.log(0.8), Math.log(0.2)],
      [Math.log(0.4), Math.log(0.6)],
    ];
    expect(inputDependence(likelihood).mutualInformation).toBeCloseTo((Math.log(1.6) + Math.log(1.2)) / 2, 12);
  });
});

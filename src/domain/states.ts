import type { TurnsLike } from '../config/estimators.ts';
import type { BatchView } from './batch.ts';
import type { EnvView } from './envView.ts';

/**
 * The state of a task in which a turn begins, as a short text. Two turns of one task that begin in the same state have
 * the same text, whatever led there. The number of turns that are left isn't part of it. Of an environment that a person
 * wrote it is what `stateKey()` returned, or else the last answer; of a server, the last answer.
 */
export function stateBefore(view: EnvView, turn: number): string {
  const isEarlier = (each: { readonly turn: number }) => each.turn < turn;
  switch (view.kind) {
    case 'number-line': {
      const guesses = view.guesses.filter(isEarlier);
      const low = guesses.map(({ value, answer }) => (answer === 'higher' ? value + 1 : 0));
      const high = guesses.map(({ value, answer }) => (answer === 'lower' ? value : view.range) - 1);
      return `${Math.max(0, ...low)} to ${Math.min(view.range - 1, ...high)}`;
    }
    case 'graph': {
      const known = view.searched.filter((each) => isEarlier(each) && each.to !== null);
      return setText(known.map(({ entity, relation }) => `${entity}.${relation}`));
    }
    case 'grid': {
      const { at, box } = view.moves.findLast(isEarlier) ?? { at: view.start, box: view.box };
      return box === null ? String(at) : `${at}, box ${box}`;
    }
    case 'sum':
      return setText(view.steps.filter(isEarlier).map(({ text, result }) => `${text} = ${result}`));
    case 'calls': {
      const last = view.steps.findLast(isEarlier);
      return last ? `after ${last.state ?? last.result}` : '';
    }
    case 'bandit':
      return '';
    case 'passages': {
      const found = view.searches.filter(isEarlier).flatMap(({ passages }) => passages);
      return setText(found.map(({ title }) => title));
    }
  }
}

/** The numbers of turns that began in each state of `turnStates`. */
export function turnsByState({ turns, length }: Pick<BatchView, 'turns' | 'length'>, states: Int32Array) {
  const counts = new Map<number, number>();
  states.forEach((state, at) => {
    const isFirst = at % length === 0 || turns[at] !== turns[at - 1];
    if (isFirst) counts.set(state, (counts.get(state) ?? 0) + 1);
  });
  return counts;
}

const setText = (items: readonly string[]) => [...new Set(items)].toSorted().join('; ');

/**
 * The progress of turns for `turn-credit`, (B,T), at the tokens that were paid for it: process and information rewards,
 * which are differences of a score of the task's state. That of turn j is divided by 1 + γ + … + γ^{j−1}, the sum of the
 * weights with which it counts for turns j, j − 1, …, 1.
 */
export function turnProgress(
  { turns, parts }: Pick<BatchView, 'turns' | 'parts'>,
  turnGamma: number,
): Float32Array<ArrayBuffer> {
  const weightSums = [0];
  const turnCount = turns.reduce((largest, turn) => Math.max(largest, turn), 0);
  for (let turn = 1; turn <= turnCount; turn++) weightSums.push(1 + turnGamma * weightSums[turn - 1]!);
  return Float32Array.from(turns, (turn, at) => {
    const progress = (parts.process?.[at] ?? 0) + (parts.information?.[at] ?? 0);
    return progress === 0 ? 0 : progress / weightSums[turn]!;
  });
}

/**
 * A number (B,T) for each token's turn. Two turns of the same task have the same number if they are compared: if they
 * began in the same state, or have the same place in their rollouts. −1 in prompts and in rows that are in no group.
 */
export function turnStates(
  batch: Pick<BatchView, 'rows' | 'length' | 'turns' | 'episodes'>,
  groups: ArrayLike<number>,
  same: TurnsLike['same'],
): Int32Array {
  const states = new Int32Array(batch.rows * batch.length).fill(-1);
  const numbers = new Map<string, number>();
  for (const { row, view } of batch.episodes) {
    const ofTurns = new Map<number, number>();
    for (let at = row * batch.length; groups[row]! >= 0 && at < (row + 1) * batch.length; at++) {
      const turn = batch.turns[at]!;
      if (turn === 0) continue;
      if (!ofTurns.has(turn)) {
        const key = `${groups[row]} ${same === 'state' ? stateBefore(view, turn) : turn}`;
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        ofTurns.set(turn, numbers.get(key)!);
      }
      states[at] = ofTurns.get(turn)!;
    }
  }
  return states;
}

import type { EnvView } from '../../domain/envView.ts';

/**
 * The view of an environment after `turn`, without later turns. The answer and rewards are included only if the rollout
 * is `over`.
 */
export function viewUpTo(view: EnvView, turn: number, over: boolean): EnvView {
  const past = <T extends { readonly turn: number }>(list: readonly T[]) => list.filter((each) => each.turn <= turn);
  switch (view.kind) {
    case 'number-line':
      return { ...view, guesses: past(view.guesses) };
    case 'calls':
      return { ...view, steps: past(view.steps), earned: over ? view.earned : null };
    case 'grid':
      return { ...view, moves: past(view.moves) };
    case 'sum':
      return { ...view, steps: past(view.steps), given: over ? view.given : null };
    case 'graph':
      return { ...view, searched: past(view.searched), given: over ? view.given : null };
    case 'passages':
      return over ? view : { ...view, searches: past(view.searches), given: null, givenAt: null };
    case 'bandit':
      return over ? view : { ...view, given: null, paid: null };
    default:
      return view satisfies never;
  }
}

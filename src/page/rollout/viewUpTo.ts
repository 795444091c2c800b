import type { EnvView } from '../../domain/envView.ts';

/** Leaves out later turns. The answer and rewards are included only if the rollout is `finished`. */
export function viewUpTo(view: EnvView, turn: number, finished: boolean): EnvView {
  const untilTurn = <T extends { readonly turn: number }>(list: readonly T[]) =>
    list.filter((each) => each.turn <= turn);
  switch (view.kind) {
    case 'number-line':
      return { ...view, guesses: untilTurn(view.guesses) };
    case 'calls':
      return { ...view, steps: untilTurn(view.steps), earned: finished ? view.earned : null };
    case 'grid':
      return { ...view, moves: untilTurn(view.moves) };
    case 'sum':
      return { ...view, steps: untilTurn(view.steps), given: finished ? view.given : null };
    case 'graph':
      return { ...view, searched: untilTurn(view.searched), given: finished ? view.given : null };
    case 'passages':
      return finished ? view : { ...view, searches: untilTurn(view.searches), given: null, givenAt: null };
    case 'bandit':
      return finished ? view : { ...view, given: null, paid: null };
    default:
      return view satisfies never;
  }
}

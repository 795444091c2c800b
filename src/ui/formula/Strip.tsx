import { useCurrent } from '../run/currentRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** The rollout in view as a bar, the tokens that are lit in it: for where the rollout itself is on another tab. */
export function Strip() {
  const { batch, rollout } = useCurrent();
  const marks = useSelection((s) => s.lit?.marks);
  const from = rollout.row * batch.length;
  const runs: { mark: number; length: number }[] = [];
  for (let t = 0; t < rollout.words.length; t++) {
    const mark = marks?.[from + t] ?? 0;
    const last = runs.at(-1);
    if (last?.mark === mark) last.length++;
    else runs.push({ mark, length: 1 });
  }
  return (
    <div className="lit-strip" aria-hidden="true" data-empty={!marks}>
      <span className="faint">in this rollout</span>
      <div className="lit-runs">
        {runs.map(({ mark, length }, i) => (
          <span key={i} data-lit={mark} style={{ flexGrow: length }} />
        ))}
      </div>
    </div>
  );
}

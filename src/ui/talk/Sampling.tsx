import type { TalkSampling } from '../../domain/asking.ts';
import { FIELDS } from '../../config/fields.ts';
import { runSampling, useTalk } from './talkStore.ts';

const KNOBS = ['temperature', 'topK', 'topP'] as const;

/** How answers are drawn; the run keeps its own. */
export function Sampling() {
  const sampling = useTalk((s) => s.sampling);
  const set = (change: Partial<TalkSampling>) => useTalk.setState({ sampling: { ...sampling, ...change } });
  return (
    <fieldset className="card row talk-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <label className="line">
        <input type="checkbox" checked={sampling.greedy} onChange={({ target }) => set({ greedy: target.checked })} />
        <span>Greedy</span>
      </label>
      {KNOBS.map((knob) => {
        const { label, min, max } = FIELDS[knob];
        const step = 'integer' in FIELDS[knob] ? 1 : 0.05;
        const take = (value: number) => value >= min && value <= max && set({ [knob]: value });
        return (
          <label key={knob} className="line">
            <span>{label}</span>
            <input
              type="number"
              className="knob-value"
              disabled={sampling.greedy}
              {...{ min, max, step }}
              value={sampling[knob]}
              onChange={({ target }) => take(target.valueAsNumber)}
            />
          </label>
        );
      })}
      <button type="button" className="quiet small" onClick={() => set(runSampling())}>
        As the run draws
      </button>
    </fieldset>
  );
}

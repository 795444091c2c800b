import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';
import { runSampling, useTalk } from './talkStore.ts';

/** How answers are drawn; the run keeps its own. */
export function VoiceSampling() {
  const sampling = useTalk((s) => s.sampling);
  const set = (changed: typeof sampling) => useTalk.setState({ sampling: changed });
  return (
    <fieldset className="card row talk-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <SamplingKnobs {...{ sampling, set }} />
      <button type="button" className="small" onClick={() => set({ ...sampling, ...runSampling() })}>
        Use the run’s settings
      </button>
    </fieldset>
  );
}

import { PRESET_CARDS } from '../../config/presetCards.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { SHARES } from '../curves/axes.ts';
import { LineChart } from '../curves/LineChart.tsx';
import { Picture } from './Picture.tsx';
import { expected, type MeasuredHere, timeWords } from './presetTimes.ts';

interface Props {
  readonly preset: PresetName;
  readonly chosen: boolean;
  readonly here: MeasuredHere | null;
  readonly choose: (preset: PresetName) => void;
}

/** A preset with its picture, what is learned in it, what it came to and how long that took. */
export function PresetCard({ preset, chosen, here, choose }: Props) {
  const { doc, learns, result } = PRESET_CARDS[preset];
  const words = result && expected(result);
  const time = timeWords(preset, here);
  return (
    <button
      type="button"
      className="preset-card"
      data-preset={preset}
      aria-pressed={chosen}
      title={doc}
      onClick={() => choose(preset)}
    >
      <Picture preset={preset} />
      <b>{PRESETS[preset].label}</b>
      <span className="small soft">{learns}</span>
      <span className="small card-result">
        {words ? (
          <>
            <b>{words.numbers}</b>
            {result.curve && <Curve curve={result.curve} />}
            <span className="faint">
              {words.of}, {words.sure}
            </span>
          </>
        ) : (
          <span className="faint">Success: not measured.</span>
        )}
      </span>
      <span className="small faint card-foot">
        <span title={time?.hint}>{time ? time.text : 'Time: not measured'}</span>
      </span>
    </button>
  );
}

const BOX = { width: 60, height: 22, left: 0, right: 0, top: 1, bottom: 1 }; // px

/** Mean success at its evaluations, from 0 at the bottom to 1 at the top. */
function Curve({ curve }: { readonly curve: readonly number[] }) {
  const plot = { ...BOX, x: { from: 0, to: Math.max(1, curve.length - 1) }, y: SHARES };
  const line = { name: 'smooth', x: curve.map((_, i) => i), y: curve };
  return <LineChart className="card-curve" fit="box" chart={{ plot, rules: [0, 1], lines: [line] }} />;
}

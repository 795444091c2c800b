import { type KeyboardEvent, useEffect, useRef } from 'react';
import { PRESET_CARDS, PRESET_GROUPS, type PresetGroup } from '../../config/presetCards.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { useConfig, choosePreset, presetConfig } from '../knobs/configStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/choice.css';
import { type MeasuredHere, expected, timeWords } from './presetTimes.ts';
import { SHARES } from '../curves/axes.ts';
import { LineChart } from '../curves/LineChart.tsx';
import { Picture } from './Picture.tsx';
import { hasFacts } from '../knobs/factsStore.ts';
import { start } from '../run/transport.ts';

const NAMES = Object.keys(PRESETS) as PresetName[];
const GROUPS = Object.entries(PRESET_GROUPS) as [PresetGroup, (typeof PRESET_GROUPS)[PresetGroup]][];

/** All presets by picture, on their shelves: one is chosen by a press, by touch, or with arrows and Enter. */
export function ChoiceDialog() {
  const chosen = useConfig((s) => s.preset);
  const here = useTimed();
  const shelves = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const card = shelves.current?.querySelector<HTMLElement>('[aria-pressed="true"]');
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: 'nearest' });
  }, []);
  const onKey = (event: KeyboardEvent) => {
    const cards = [...(shelves.current?.querySelectorAll<HTMLElement>('.preset-card') ?? [])];
    const at = cards.findIndex((card) => card === document.activeElement);
    const places = cards.map((card) => card.getBoundingClientRect());
    const to = at < 0 ? undefined : cards[nextCard(places, at, event.key)];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <Dialog
      title="Choose what to train"
      className="wide choice"
      onClose={() => useSelection.setState({ choosing: false })}
      onKeyDown={onKey}
    >
      <p className="soft">
        On each card: an expert’s solution of one task, success on evaluated tasks before → after training, and the time
        of a run.
      </p>
      <p className="write-own">
        <a href="#/environment" onClick={() => useSelection.setState({ choosing: false })}>
          Write your own environment…
        </a>{' '}
        <span className="soft">One class in TypeScript or Python, with templates to start from.</span>
      </p>
      <div ref={shelves} data-testid="choice">
        {GROUPS.map(([group, { label, doc }]) => (
          <section key={group} className="shelf" aria-labelledby={`shelf-${group}`}>
            <h3 id={`shelf-${group}`}>
              {label} <span className="faint">{doc}</span>
            </h3>
            <ul>
              {NAMES.filter((name) => PRESET_CARDS[name].group === group).map((name) => (
                <li key={name}>
                  <PresetCard preset={name} chosen={name === chosen} here={here} choose={choose} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** What the run of this page says of this machine; null before there is one, or where its knobs are no preset's. */
function useTimed(): MeasuredHere | null {
  const preset = useConfig((s) => s.preset);
  const asPreset = useConfig((s) => s.applied?.env === s.wanted.env && s.applied.language === s.wanted.language);
  useLive((s) => s.metricsVersion);
  const seconds = live.series.get('time/update')?.smooth;
  return asPreset && preset !== YOUR_ENVIRONMENT && seconds !== undefined ? { preset, secondsAnUpdate: seconds } : null;
}

interface Props {
  readonly preset: PresetName;
  readonly chosen: boolean;
  readonly here: MeasuredHere | null;
  readonly choose: (preset: PresetName) => void;
}

/** A preset: its picture, what the agent learns in it, the success that its run reached, and how long the run took. */
function PresetCard({ preset, chosen, here, choose }: Props) {
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

/** Takes a preset, and what is chosen from here on is about it; a run that is there gives way to one of its own, running if that one was. */
function choose(preset: PresetName): void {
  useSelection.setState({ choosing: false });
  choosePreset(preset);
  const { session, running } = useLive.getState();
  // another preset is another run, for its knobs make no sense on the old one; one that waits for a file begins once that is there
  if (session === 'ready' && (presetConfig(preset).env !== 'your-facts' || hasFacts())) start(running);
}

/** Where a card stands. */
export type Place = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/**
 * The card that a key leads to from the one at `at`: left and right go on in order, up and down to the nearest row in that direction
 * and there to the card that stands nearest; Home and End to the ends. The same card if there is none; −1 for other keys.
 */
export function nextCard(places: readonly Place[], at: number, key: string): number {
  const from = places[at];
  if (!from) return -1;
  switch (key) {
    case 'ArrowRight':
      return Math.min(places.length - 1, at + 1);
    case 'ArrowLeft':
      return Math.max(0, at - 1);
    case 'Home':
      return 0;
    case 'End':
      return places.length - 1;
    case 'ArrowDown':
    case 'ArrowUp':
      return nearest(places, from, key === 'ArrowDown' ? 1 : -1) ?? at;
    default:
      return -1;
  }
}

function nearest(places: readonly Place[], from: Place, way: 1 | -1): number | null {
  const ahead = [...places.keys()].filter((i) => way * ((places[i]?.top ?? 0) - from.top) > 1);
  const away = (i: number) => way * ((places[i]?.top ?? 0) - from.top);
  const row = Math.min(...ahead.map(away));
  const side = (i: number) => Math.abs((places[i]?.left ?? 0) - from.left);
  const inRow = ahead.filter((i) => away(i) < row + 1);
  return inRow.reduce<number | null>((best, i) => (best === null || side(i) < side(best) ? i : best), null);
}

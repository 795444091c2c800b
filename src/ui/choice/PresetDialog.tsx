import { type KeyboardEvent, useEffect, useRef } from 'react';
import { PRESET_CARDS, PRESET_GROUPS, type PresetGroup } from '../../config/presetCards.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { useConfig, choosePreset, presetConfig } from '../../page/knobs/configStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { type PageRunTime, resultTexts, timeWords } from '../../page/stage/presetTimes.ts';
import { SHARE_AXIS } from '../../page/curves/axes.ts';
import { LineChart } from '../charts/LineChart.tsx';
import { PresetPicture } from './PresetPicture.tsx';
import { hasFacts } from '../../page/training/factsStore.ts';
import { start } from '../../page/training/transport.ts';
import './choice.css';

const NAMES = Object.keys(PRESETS) as PresetName[];
const GROUPS = Object.entries(PRESET_GROUPS) as [PresetGroup, (typeof PRESET_GROUPS)[PresetGroup]][];

/** The dialog to choose a preset: cards with pictures, in groups. Arrow keys move between cards, Enter chooses. */
export function PresetDialog() {
  const chosenPreset = useConfig((s) => s.preset);
  const pageRunTime = usePageRunTime();
  const shelvesElement = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const card = shelvesElement.current?.querySelector<HTMLElement>('[aria-pressed="true"]');
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: 'nearest' });
  }, []);
  const onKey = (event: KeyboardEvent) => {
    const cards = [...(shelvesElement.current?.querySelectorAll<HTMLElement>('.preset-card') ?? [])];
    const currentIndex = cards.findIndex((card) => card === document.activeElement);
    const boxes = cards.map((card) => card.getBoundingClientRect());
    const nextElement = currentIndex < 0 ? undefined : cards[nextCard(boxes, currentIndex, event.key)];
    if (!nextElement) return;
    event.preventDefault();
    nextElement.focus();
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
      <div ref={shelvesElement} data-testid="choice">
        {GROUPS.map(([group, { label, doc }]) => (
          <section key={group} className="shelf" aria-labelledby={`shelf-${group}`}>
            <h3 id={`shelf-${group}`}>
              {label} <span className="faint">{doc}</span>
            </h3>
            <ul>
              {NAMES.filter((name) => PRESET_CARDS[name].group === group).map((name) => (
                <li key={name}>
                  <PresetCard preset={name} chosen={name === chosenPreset} pageRunTime={pageRunTime} choose={choose} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** Null without a run, and if it has another environment or language than the chosen preset. */
function usePageRunTime(): PageRunTime | null {
  const preset = useConfig((s) => s.preset);
  const isPresetRun = useConfig((s) => s.applied?.env === s.wanted.env && s.applied.language === s.wanted.language);
  useLive((s) => s.metricsVersion);
  const seconds = useLive.getState().series.get('time/update')?.lastSmoothed;
  return isPresetRun && preset !== YOUR_ENVIRONMENT && seconds !== undefined
    ? { preset, secondsPerUpdate: seconds }
    : null;
}

interface Props {
  readonly preset: PresetName;
  readonly chosen: boolean;
  readonly pageRunTime: PageRunTime | null;
  readonly choose: (preset: PresetName) => void;
}

function PresetCard({ preset, chosen, pageRunTime, choose }: Props) {
  const { doc, learns, result } = PRESET_CARDS[preset];
  const resultText = result && resultTexts(result);
  const time = timeWords(preset, pageRunTime);
  return (
    <button
      type="button"
      className="preset-card col gap-2"
      data-preset={preset}
      aria-pressed={chosen}
      title={doc}
      onClick={() => choose(preset)}
    >
      <PresetPicture preset={preset} />
      <b>{PRESETS[preset].label}</b>
      <span className="small soft">{learns}</span>
      <span className="small card-result">
        {resultText ? (
          <>
            <b>{resultText.change}</b>
            {result.curve && <Curve curve={result.curve} />}
            <span className="faint">
              {resultText.average}, {resultText.certainty}
            </span>
          </>
        ) : (
          <span className="faint">Success: not measured.</span>
        )}
      </span>
      <span className="small faint card-foot flex between">
        <span title={time?.hint}>{time ? time.text : 'Time: not measured'}</span>
      </span>
    </button>
  );
}

const CURVE_BOX = { width: 60, height: 22, left: 0, right: 0, top: 1, bottom: 1 }; // px

/** A preset's mean success by evaluation, on an axis from 0 to 1. */
function Curve({ curve }: { readonly curve: readonly number[] }) {
  const plot = { ...CURVE_BOX, x: { from: 0, to: Math.max(1, curve.length - 1) }, y: SHARE_AXIS };
  const line = { cssClass: 'smooth', x: curve.map((_, i) => i), y: curve };
  return <LineChart className="card-curve" fit="box" chart={{ plot, gridLines: [0, 1], lines: [line] }} />;
}

/** Chooses a preset. If the page has a run, starts a new one with the preset, running if the old one was. */
function choose(preset: PresetName): void {
  useSelection.setState({ choosing: false });
  choosePreset(preset);
  const { session, running } = useLive.getState();
  // a preset's knobs make no sense in the old run; a preset that needs a file of facts waits for the file
  if (session === 'ready' && (presetConfig(preset).env !== 'your-facts' || hasFacts())) start(running);
}

export type CardBox = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/**
 * Index of the card that a key leads to from card `currentIndex`. Left and right: the previous and next card. Up and
 * down: the closest card in the nearest row in that direction. Home and End: the first and last card. `currentIndex` if
 * there is no such card; −1 for other keys.
 */
export function nextCard(boxes: readonly CardBox[], currentIndex: number, key: string): number {
  const currentBox = boxes[currentIndex];
  if (!currentBox) return -1;
  switch (key) {
    case 'ArrowRight':
      return Math.min(boxes.length - 1, currentIndex + 1);
    case 'ArrowLeft':
      return Math.max(0, currentIndex - 1);
    case 'Home':
      return 0;
    case 'End':
      return boxes.length - 1;
    case 'ArrowDown':
    case 'ArrowUp':
      return nearestInNextRow(boxes, currentBox, key === 'ArrowDown' ? 1 : -1) ?? currentIndex;
    default:
      return -1;
  }
}

function nearestInNextRow(boxes: readonly CardBox[], currentBox: CardBox, direction: 1 | -1): number | null {
  const indexesAhead = [...boxes.keys()].filter((i) => direction * ((boxes[i]?.top ?? 0) - currentBox.top) > 1);
  const distance = (i: number) => direction * ((boxes[i]?.top ?? 0) - currentBox.top);
  const rowDistance = Math.min(...indexesAhead.map(distance));
  const sideDistance = (i: number) => Math.abs((boxes[i]?.left ?? 0) - currentBox.left);
  const inRow = indexesAhead.filter((i) => distance(i) < rowDistance + 1);
  return inRow.reduce<number | null>(
    (bestIndex, i) => (bestIndex === null || sideDistance(i) < sideDistance(bestIndex) ? i : bestIndex),
    null,
  );
}

import { type KeyboardEvent, useEffect, useRef } from 'react';
import { PRESET_CARDS, PRESET_GROUPS, type PresetGroup } from '../../config/presetCards.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { useConfig } from '../knobs/configStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/choice.css';
import { choose } from './choose.ts';
import { nextCard } from './nextCard.ts';
import { PresetCard } from './PresetCard.tsx';
import type { MeasuredHere } from './presetTimes.ts';

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
        Each card shows how an expert solves one task, the success in evaluation before → after training, and the time a
        run takes.
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

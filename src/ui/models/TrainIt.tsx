import { useState } from 'react';
import { PRESET_DOCS } from '../../config/presetDocs.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import type { ModelCard } from '../../domain/modelCard.ts';
import { presetConfig } from '../knobs/configStore.ts';
import { closeModel, useModels } from './store.ts';
import { trainOn } from './train.ts';

const CHOICES = (Object.keys(PRESETS) as PresetName[]).filter((name) => presetConfig(name).model === 'checkpoint');

/** Trains the checkpoint that the card is of: on which task, and the button that goes to the lab. */
export function TrainIt({ card }: { readonly card: ModelCard }) {
  const [preset, setPreset] = useState<PresetName>(CHOICES[0] ?? 'smollm2-calculator');
  const given = useModels((s) => s.given);
  const opened = useModels((s) => s.opened !== null);
  if (!given) return null;
  if (card.template === 'none') {
    return (
      <p className="panel small soft">
        It has no chat template, so no tool can be told to it and it cannot be trained.
      </p>
    );
  }
  return (
    <section className="panel stack" aria-labelledby="train-it">
      <h3 id="train-it">Train it</h3>
      <label className="row between">
        <span>On</span>
        <select value={preset} onChange={({ target }) => setPreset(target.value as PresetName)}>
          {CHOICES.map((name) => (
            <option key={name} value={name}>
              {PRESETS[name].label.replace(/^.*· /, '')}
            </option>
          ))}
        </select>
      </label>
      <p className="small soft">{PRESET_DOCS[preset]}</p>
      <button
        type="button"
        className="primary"
        onClick={() => {
          if (opened) closeModel(); // two of it would not fit
          trainOn(given, preset);
        }}
      >
        Train it
      </button>
    </section>
  );
}

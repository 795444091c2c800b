import { lazy, Suspense, useEffect, useRef } from 'react';
import { PRESET_DOCS } from '../../config/presetDocs.ts';
import { useConfig } from './configStore.ts';
import { useFactsOpen } from './factsStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { BADGES } from './Knob.tsx';
import { AlgorithmPanel } from './AlgorithmPanel.tsx';
import { ChangedKnobs } from './ChangedKnobs.tsx';
import { ControlNotes, RestartBar } from './ControlNotes.tsx';
import { keepUnderPointer } from './keepUnderPointer.ts';
import { KnobGroup, type Group } from './KnobGroup.tsx';
import { MaskPanel } from './MaskPanel.tsx';
import { sizesInWords } from '../models/trainee.ts';
import { PreferenceDoor } from '../preferences/PreferenceDoor.tsx';
import '../styles/algorithm.css';

const FormulaDock = lazy(() => import('../formula/FormulaDock.tsx').then((m) => ({ default: m.FormulaDock })));
const Trainee = lazy(() => import('../models/Trainee.tsx').then((m) => ({ default: m.Trainee })));
const FactsPanel = lazy(() => import('./FactsPanel.tsx').then((m) => ({ default: m.FactsPanel })));

const GROUPS: readonly { readonly group: Group; readonly title: string }[] = [
  { group: 'optimizer', title: 'Optimizer' },
  { group: 'objective', title: 'Objective' },
  { group: 'rollout', title: 'Rollouts' },
  { group: 'task', title: 'Task' },
  { group: 'model', title: 'Model' },
  { group: 'run', title: 'Run' },
];

/** Algorithm and masks in sight, every other knob of FIELDS a click away. */
export function ControlPanels() {
  const facts = useFactsOpen();
  const preset = useConfig((s) => s.preset);
  const sizes = useConfig((s) => sizesInWords(s.wanted));
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => keepUnderPointer(scroll), []);
  return (
    <>
      <div className="controls-legend">
        {Object.entries(BADGES).map(([when, { word, doc }]) => (
          <span key={when} className="badge" data-when={when} title={doc}>
            <Icon name={when as keyof typeof BADGES} /> {word}
          </span>
        ))}
        <ChangedKnobs />
      </div>
      <div className="controls-scroll" ref={scroll}>
        <p className="soft preset-doc">{PRESET_DOCS[preset]}</p>
        <ControlNotes />
        <AlgorithmPanel />
        <KnobGroup group="masks" title="Masks" open>
          <MaskPanel />
        </KnobGroup>
        <KnobGroup group="reward" title="Rewards">
          <PreferenceDoor />
        </KnobGroup>
        {GROUPS.map((entry) => (
          <KnobGroup
            key={entry.group}
            {...entry}
            open={entry.group === 'task' && facts}
            {...(entry.group === 'model' && { beside: sizes, above: <WhatTrains /> })}
          >
            {entry.group === 'task' && (
              <>
                <a className="write-own" href="#/environment">
                  Write your own environment…
                </a>
                <Suspense>
                  <FactsPanel />
                </Suspense>
              </>
            )}
          </KnobGroup>
        ))}
      </div>
      <Suspense fallback={<div className="formula-dock" />}>
        <FormulaDock />
      </Suspense>
      <RestartBar />
    </>
  );
}

function WhatTrains() {
  return (
    <Suspense>
      <Trainee />
    </Suspense>
  );
}

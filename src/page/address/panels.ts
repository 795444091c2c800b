import type { Route } from './screens.ts';

export interface Panel {
  readonly label: string;
  readonly height: number;
  readonly of?: Route; // the only screen that has it
}

/** Panels that another page can show in a frame: their labels and the heights of their frames, px. */
export const EMBED_PANELS = {
  stage: { label: 'Before and after', height: 640 },
  rollout: { label: 'Rollout', height: 560 },
  curve: { label: 'Curve', height: 320 },
  exercise: { label: 'Exercise', height: 480, of: 'learn' },
  answer: { label: 'Answer', height: 640, of: 'answers' },
} as const satisfies Readonly<Record<string, Panel>>;

export type EmbedPanel = keyof typeof EMBED_PANELS;

/** The panel that an address's query names: `?embed=curve`. Null if it names none or an unknown one. */
export function embeddedPanel(search: string): EmbedPanel | null {
  const name = new URLSearchParams(search).get('embed');
  return name !== null && Object.hasOwn(EMBED_PANELS, name) ? (name as EmbedPanel) : null;
}

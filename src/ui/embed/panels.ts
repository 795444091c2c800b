/** Panels that another page can show in a frame: their labels and the heights of their frames, px. */
export const PANELS = {
  stage: { label: 'Before and after', height: 640 },
  rollout: { label: 'Rollout', height: 560 },
  curve: { label: 'Curve', height: 320 },
  exercise: { label: 'Exercise', height: 480 },
} as const;

export type Panel = keyof typeof PANELS;

/** The panel that an address's query names: `?embed=curve`. Null if it names none or an unknown one. */
export function panelOf(search: string): Panel | null {
  const name = new URLSearchParams(search).get('embed');
  return name !== null && Object.hasOwn(PANELS, name) ? (name as Panel) : null;
}

/** Panels that another page can show in a frame: what each is called where it is offered, and how high its frame is, px. */
export const PANELS = {
  stage: { label: 'Before and after', height: 640 },
  rollout: { label: 'Rollout', height: 560 },
  curve: { label: 'Curve', height: 320 },
  exercise: { label: 'Exercise', height: 480 },
} as const;

export type Panel = keyof typeof PANELS;

/** The panel that an address asks for, in what precedes its #: `?embed=curve`. Null where it asks for none, or for one that there is not. */
export function panelOf(search: string): Panel | null {
  const asked = new URLSearchParams(search).get('embed');
  return asked !== null && Object.hasOwn(PANELS, asked) ? (asked as Panel) : null;
}

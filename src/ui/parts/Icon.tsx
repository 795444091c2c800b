const ICON_PATHS = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M7 4.5h3.5v15H7zM13.5 4.5H17v15h-3.5z',
  step: 'M5 4.5v15l9-7.5zM16 4.5h3v15h-3z',
  reset: 'M5 12a7 7 0 1 0 2.2-5.1M5 4v4h4',
  live: 'M13 3 5 13.5h6L10 21l8-10.5h-6z',
  next: 'M4 6l7 6-7 6zM13 6l7 6-7 6z',
  restart: 'M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  minus: 'M6 12h12',
  compare: 'M4 5h7v14H4zM13 5h7v14h-7z',
  cross: 'M6 6l12 12M18 6L6 18',
  left: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  up: 'M12 19V6M6 11l6-6 6 6',
  down: 'M12 5v13M6 13l6 6 6-6',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  dice: 'M5 5h14v14H5zM9 9h.01M15 15h.01M12 12h.01M15 9h.01M9 15h.01',
  alert: 'M12 4 3 19.5h18zM12 10v4.5M12 17.2v.1',
  watch: 'M3 12s3.5-6 9-6 9 6 9 6-3.5 6-9 6-9-6-9-6zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  curves: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  tiles: 'M5 5h6v6H5zM13 5h6v6h-6zM5 13h6v6H5zM13 13h6v6h-6z',
  tune: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
} as const;
export type IconName = keyof typeof ICON_PATHS;
const FILLED_ICONS: readonly IconName[] = ['play', 'pause', 'step', 'live', 'next'];

/** A decorative icon. Its meaning must also be in words beside it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={FILLED_ICONS.includes(name) ? 'icon filled' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}

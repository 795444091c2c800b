import { lazy, Suspense } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import { ChangedKnobs, TrainedTitle } from '../knobs/ChangedKnobs.tsx';
import { useConfig } from '../../page/knobs/configStore.ts';
import { duration } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { setTheme, useSelection, type Theme } from '../../page/view/selectionStore.ts';
import { pause, reset, run, step } from '../../page/training/transport.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { ViewBar } from './ViewBar.tsx';
import { useAddress } from '../../page/view/address.ts';

const HealthChip = lazy(() => import('../run/HealthChip.tsx').then((m) => ({ default: m.HealthChip })));

export function Header() {
  const hasHealth = useLive((s) => s.health !== null);
  return (
    <>
      <header className="header">
        <Brand />
        <PresetMenu />
        <Transport />
        <Progress />
        <Suspense>{hasHealth && <HealthChip />}</Suspense>
        <HeaderEnd />
      </header>
      <ViewBar />
    </>
  );
}

export function HeaderEnd() {
  return (
    <div className="header-end flex end">
      <button
        type="button"
        className="quiet icon-button share-button"
        aria-label="Share"
        title="Share (S)"
        onClick={() => useSelection.setState({ sharing: true })}
      >
        <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M12 15V4M8 8l4-4 4 4M5 13v7h14v-7" />
        </svg>
      </button>
      <ThemeButton />
      <button
        type="button"
        className="quiet icon-button"
        aria-label="Keyboard help"
        title="Keyboard help (?)"
        onClick={() => useSelection.setState({ help: true })}
      >
        ?
      </button>
    </div>
  );
}

export function PresetMenu() {
  return (
    <div className="line preset">
      <button
        type="button"
        className="preset-door"
        aria-haspopup="dialog"
        title="Choose what to train (C)"
        onClick={() => useSelection.setState({ choosing: true })}
      >
        <span className="visually-hidden">What to train: </span>
        <span className="cut">
          <TrainedTitle />
        </span>
        <Icon name="tiles" />
      </button>
      <ChangedKnobs origin />
    </div>
  );
}

function Transport() {
  const running = useLive((s) => s.running);
  const started = useLive((s) => s.session === 'ready');
  const finished = useLive((s) => s.finished);
  const oneStep = useLive((s) => (s.phase === 'imitating' ? 'Imitate one step' : 'Step one update'));
  return (
    <div className="line transport" role="group" aria-label="Training">
      <button
        type="button"
        className="run primary"
        title={finished ? 'Adds 50 updates' : undefined}
        data-running={running}
        onClick={() => (running ? pause() : run())}
      >
        <Icon name={running ? 'pause' : 'play'} />
        {running ? 'Pause' : 'Run training'}
      </button>
      <button
        type="button"
        className="icon-button"
        onClick={step}
        aria-label={oneStep}
        title={finished ? 'Adds an update (>)' : `${oneStep} (>)`}
      >
        <Icon name="step" />
      </button>
      <button
        type="button"
        className="icon-button"
        onClick={reset}
        disabled={!started}
        aria-label="Reset"
        title="Restart at update 0, with the current knobs"
      >
        <Icon name="reset" />
      </button>
    </div>
  );
}

function Progress() {
  const update = useLive((s) => s.update);
  const finished = useLive((s) => s.finished);
  const running = useLive((s) => s.running);
  const config = useConfig((s) => s.wanted);
  const failed = useLive((s) => s.session === 'failed');
  const stepping = useLive((s) => s.stepping);
  const timeLeft = running ? remaining(update, config) : null;
  return (
    <div className="progress line gap-4 fill thin">
      <span className="one-line" data-testid="update" title="Updates done, of those planned">
        your run: <b>{update}</b>/{config.updates}
      </span>
      <progress value={Math.min(update, config.updates)} max={config.updates} aria-label="Updates done" />
      <span className="one-line faint">
        {finished
          ? 'finished'
          : timeLeft
            ? `${timeLeft} left`
            : failed
              ? 'stopped'
              : stepping
                ? 'one step'
                : update > 0 && !running
                  ? 'paused'
                  : ''}
      </span>
    </div>
  );
}

/** The time until the run ends, as text; null while unknown. */
function remaining(update: number, config: RunConfig): string | null {
  const seconds = useLive.getState().series.get('time/update')?.lastSmoothed;
  return seconds === undefined || update >= config.updates ? null : duration(seconds * (config.updates - update));
}

const THEMES: Readonly<Record<Theme, { readonly icon: IconName; readonly next: Theme }>> = {
  system: { icon: 'system', next: 'dark' },
  dark: { icon: 'moon', next: 'light' },
  light: { icon: 'sun', next: 'system' },
};

function ThemeButton() {
  const theme = useSelection((s) => s.theme);
  return (
    <button
      type="button"
      className="quiet icon-button"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      onClick={() => setTheme(THEMES[theme].next)}
    >
      <Icon name={THEMES[theme].icon} />
    </button>
  );
}

export function Brand() {
  const address = useAddress();
  return (
    <h1 className="brand line gap-4 one-line large">
      <a href={address('stage')} title="Start screen">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="22" height="22" />
        Rollout Playground
      </a>
    </h1>
  );
}

import { useState } from 'react';

/**
 * Saves the run of the lab; why it could not be saved, or ''. What saves was loaded with the run. Where it was not there is nothing to save,
 * and the server may not have it any more.
 */
async function savedNow(): Promise<string> {
  const saving = await import('../runs/saving.ts').catch(() => null);
  return saving ? saving.savedNow() : '';
}

/** Loads the page again once the run is saved; asks a second time where it cannot be. */
export function ReloadButton() {
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);
  const reload = async () => {
    setBusy(true);
    const why = await savedNow();
    if (why === '') location.reload();
    setRefused(why);
    setBusy(false);
  };
  return refused ? (
    <>
      <span>The run is {refused}.</span>
      <button type="button" onClick={() => location.reload()}>
        Reload without the run
      </button>
    </>
  ) : (
    <button type="button" className="primary" disabled={busy} onClick={() => void reload()}>
      Reload and keep the run
    </button>
  );
}

import { useState } from 'react';

/**
 * Saves the lab's run. Returns why it could not be saved, or ''. The code for saving is loaded together with a run; if
 * it can't be loaded now, there is no run to save, and after a new version the server may no longer have that file.
 */
async function saveRun(): Promise<string> {
  const saving = await import('../../page/runs/saving.ts').catch(() => null);
  return saving ? saving.saveAndWait() : '';
}

/** Saves the run, then reloads the page. If the run can't be saved, says why and asks again. */
export function ReloadButton() {
  const [saveError, setSaveError] = useState('');
  const [busy, setBusy] = useState(false);
  const reload = async () => {
    setBusy(true);
    const reason = await saveRun();
    if (reason === '') location.reload();
    setSaveError(reason);
    setBusy(false);
  };
  return saveError ? (
    <>
      <span>The run is {saveError}.</span>
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

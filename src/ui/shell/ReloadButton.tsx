import { useState } from 'react';
import { savedNow } from '../runs/saving.ts';

/** Loads the page anew once the run is saved; asks a second time where it cannot be. */
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

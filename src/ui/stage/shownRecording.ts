import { useEffect, useState } from 'react';
import type { PresetName } from '../../config/presets.ts';
import type { Recording } from '../../runs/recording.ts';
import { recordedRun } from '../replay/shippedRecording.ts';

/** The recording of a preset: null until it has come, `missing` where it cannot be had. */
export function useRecording(preset: PresetName): Recording | 'missing' | null {
  const [loaded, setLoaded] = useState<{ readonly of: PresetName; readonly recording: Recording | 'missing' }>();
  useEffect(() => {
    let gone = false;
    const take = (recording: Recording | 'missing') => {
      if (!gone) setLoaded({ of: preset, recording });
    };
    recordedRun(preset).then(take, () => take('missing'));
    return () => {
      gone = true;
    };
  }, [preset]);
  return loaded?.of === preset ? loaded.recording : null;
}

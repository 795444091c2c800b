import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { bytes } from '../parts/numberText.ts';
import { download, fileName } from '../export/fileDownload.ts';
import { canvasOf, standAlone } from '../export/svg.ts';
import { useReplay } from '../replay/player.ts';
import { live } from '../run/liveStore.ts';
import { Card, CARD } from './Card.tsx';
import { makeClip, type DrawMoment } from './clip.ts';
import { rolloutFrames, trainingFrames } from './clipFrames.ts';
import { keptBatches } from './keptBatches.ts';
import type { Moment } from './moment.ts';
import { NoMoment } from './NoMoment.tsx';
import { readableAddress } from './sharedAddress.ts';

type Of = 'rollout' | 'training';

interface Clip {
  readonly of: Of;
  readonly blob: Blob;
  readonly address: string; // the blob as data: the page's policy allows no other address of its own
}

/** A looping GIF of the rollout in view, or of the training so far, made here frame by frame. */
export function ShareClip({ moment }: { readonly moment: Moment | null }) {
  const card = useRef<SVGSVGElement>(null);
  const [filmed, setFilmed] = useState(moment); // the card shows what is being filmed
  const [share, setShare] = useState<number | null>(null);
  const [clip, setClip] = useState<Clip | null>(null);
  const [outcome, setOutcome] = useState('');
  const work = useRef<AbortController>(null);
  useEffect(() => () => work.current?.abort(new Error('The dialog was closed.')), []);
  if (!moment || !filmed) return <NoMoment />;

  const draw: DrawMoment = async (next, scale) => {
    flushSync(() => setFilmed(next));
    if (!card.current) throw new Error('The dialog was closed.');
    return canvasOf(standAlone(card.current, CARD.width, CARD.height), scale);
  };
  const make = async (of: Of) => {
    const control = new AbortController();
    work.current = control;
    const { signal } = control;
    setClip(null);
    setOutcome('');
    setShare(0);
    try {
      const frames =
        of === 'rollout'
          ? rolloutFrames(moment)
          : trainingFrames(await keptBatches(signal), live.vocabulary, moment.rollout.row);
      const blob = await makeClip({ frames, draw, signal, onProgress: setShare });
      setClip({ of, blob, address: await dataAddress(blob) });
      setOutcome(`${frames.length} pictures, ${bytes(blob.size)}.`);
    } catch (error) {
      setOutcome(signal.aborted ? 'Cancelled.' : `No clip: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setShare(null);
      setFilmed(moment);
    }
  };
  const save = ({ of, blob }: Clip) => {
    const name = fileName(`rollout-playground-${of}`, 'gif');
    download(name, 'image/gif', blob);
    setOutcome(`Saved as ${name}.`);
  };
  return (
    <>
      {clip ? (
        <img className="share-clip" src={clip.address} alt={`The ${clip.of} as a looping clip`} />
      ) : (
        <Card ref={card} moment={filmed} address={readableAddress()} />
      )}
      <div className="row share-actions">
        {share === null ? (
          <>
            {clip && (
              <button type="button" className="primary" onClick={() => save(clip)}>
                Save GIF
              </button>
            )}
            <button type="button" className={clip ? '' : 'primary'} onClick={() => void make('rollout')}>
              Film this rollout
            </button>
            <TrainingButton press={() => void make('training')} />
          </>
        ) : (
          <>
            <progress value={share} max={1} aria-label="Clip made" />
            <button type="button" onClick={() => work.current?.abort(new Error('Cancelled.'))}>
              Cancel
            </button>
          </>
        )}
        <span className="faint" role="status">
          {outcome}
        </span>
      </div>
    </>
  );
}

function dataAddress(blob: Blob): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(reader.error ?? new Error('The clip could not be read.'));
    reader.readAsDataURL(blob);
  });
}

/** A training needs two updates to be filmed. */
function TrainingButton({ press }: { readonly press: () => void }) {
  const recorded = useReplay((s) => s.recording?.batches.length ?? 0);
  const updates = live.isExample ? recorded : live.kept.updates.length;
  return (
    <button type="button" disabled={updates < 2} onClick={press}>
      Film the training
    </button>
  );
}

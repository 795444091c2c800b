import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { bytes } from '../parts/numberText.ts';
import { download, fileName } from '../export/fileDownload.ts';
import { canvasOf, standAlone } from '../export/svg.ts';
import { useReplay } from '../replay/player.ts';
import { live } from '../run/liveStore.ts';
import { Card } from './Card.tsx';
import { CARD } from './CardFrame.tsx';
import { makeClip, type DrawMoment } from './clip.ts';
import { type ClipFrame, rolloutFrames, trainingFrames } from './clipFrames.ts';
import { type DuelMoment, duelFrames, duelInView } from './duel.ts';
import { DuelCard } from './DuelCard.tsx';
import { keptBatches } from './keptBatches.ts';
import type { Moment } from './moment.ts';
import { NothingToDraw } from './NothingToDraw.tsx';
import { readableAddress } from './sharedAddress.ts';

type Of = 'rollout' | 'training' | 'duel';

const isDuel = (picture: Moment | DuelMoment): picture is DuelMoment => 'before' in picture;

interface Clip {
  readonly of: Of;
  readonly blob: Blob;
  readonly address: string; // the blob as data: the page's policy allows no other address of its own
}

/** A looping GIF of the rollout in view, of the duel on the stage or of the training so far, made here frame by frame. */
export function ShareClip({ moment }: { readonly moment: Moment | null }) {
  const card = useRef<SVGSVGElement>(null);
  const [duel] = useState(duelInView); // it plays on behind the dialog
  const [filmed, setFilmed] = useState(duel ?? moment); // the card shows what is being filmed
  const [share, setShare] = useState<number | null>(null);
  const [clip, setClip] = useState<Clip | null>(null);
  const [outcome, setOutcome] = useState('');
  const work = useRef<AbortController>(null);
  useEffect(() => () => work.current?.abort(new Error('The dialog was closed.')), []);
  if (!filmed) return <NothingToDraw />;

  const draw: DrawMoment<Moment | DuelMoment> = async (next, scale) => {
    flushSync(() => setFilmed(next));
    if (!card.current) throw new Error('The dialog was closed.');
    return canvasOf(standAlone(card.current, CARD.width, CARD.height), scale);
  };
  const framesOf = async (of: Of, signal: AbortSignal): Promise<readonly ClipFrame<Moment | DuelMoment>[]> => {
    if (of === 'duel') return duel ? duelFrames(duel) : [];
    if (of === 'rollout') return moment ? rolloutFrames(moment) : [];
    return trainingFrames(await keptBatches(signal), live.vocabulary, moment?.rollout.row ?? 0);
  };
  const make = async (of: Of) => {
    const control = new AbortController();
    work.current = control;
    const { signal } = control;
    setClip(null);
    setOutcome('');
    setShare(0);
    try {
      const frames = await framesOf(of, signal);
      const blob = await makeClip({ frames, draw, signal, onProgress: setShare });
      setClip({ of, blob, address: await dataAddress(blob) });
      setOutcome(`${frames.length} pictures, ${bytes(blob.size)}.`);
    } catch (error) {
      setOutcome(signal.aborted ? 'Cancelled.' : `No clip: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setShare(null);
      setFilmed(duel ?? moment);
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
      ) : isDuel(filmed) ? (
        <DuelCard ref={card} duel={filmed} address={readableAddress()} />
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
            <button
              type="button"
              className={clip ? '' : 'primary'}
              onClick={() => void make(duel ? 'duel' : 'rollout')}
            >
              {duel ? 'Film both agents' : 'Film this rollout'}
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

import { useEffect, useRef, useState, type Ref } from 'react';
import { flushSync } from 'react-dom';
import { bytes } from '../../page/words/numberText.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { canvasOf, standalonePicture } from '../../page/browser/svg.ts';
import { useReplay } from '../../page/view/player.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Card } from './Card.tsx';
import { CARD, CardFrame, maskNote, PAD, NothingToDraw } from './CardFrame.tsx';
import { type ClipFrame, rolloutFrames, trainingFrames } from '../../page/share/clipFrames.ts';
import { type DuelMoment, duelFrames, duelInView, agentName, duelHeadline } from '../../page/share/duel.ts';
import type { Moment } from '../../page/share/moment.ts';
import { cardAddress } from '../../page/share/sharedAddress.ts';
import { Drawing, IS_SVG, taskTitle } from '../drawings/Drawing.tsx';
import { viewUpTo } from '../../page/rollout/viewUpTo.ts';
import { KINDS_WITHOUT_QUESTION } from '../tokens/Board.tsx';
import { outcome, isOver, type Play, turnAt } from '../../page/stage/play.ts';
import { CardTokens } from './CardTokens.tsx';
import type { KeptBatch } from '../../domain/batch.ts';
import { storedBatch } from '../../page/view/batches.ts';
import { question } from '../../page/training/transport.ts';

type ClipKind = 'rollout' | 'training' | 'duel';

const isDuel = (picture: Moment | DuelMoment): picture is DuelMoment => 'before' in picture;

interface Clip {
  readonly kind: ClipKind;
  readonly blob: Blob;
  readonly address: string; // the blob as a data: address, because the page's security policy forbids blob: addresses
}

export function ShareClip({ moment }: { readonly moment: Moment | null }) {
  const card = useRef<SVGSVGElement>(null);
  const [duel] = useState(duelInView); // the stage plays on behind the dialog
  // the moment on the card; while a clip is made, the moment of its current picture
  const [drawnMoment, setDrawnMoment] = useState(duel ?? moment);
  const [progress, setProgress] = useState<number | null>(null);
  const [clip, setClip] = useState<Clip | null>(null);
  const [outcome, setOutcome] = useState('');
  const work = useRef<AbortController>(null);
  useEffect(() => () => work.current?.abort(new Error('The dialog was closed.')), []);
  if (!drawnMoment) return <NothingToDraw />;

  const draw: DrawMoment<Moment | DuelMoment> = async (next, scale) => {
    flushSync(() => setDrawnMoment(next));
    if (!card.current) throw new Error('The dialog was closed.');
    return canvasOf(standalonePicture(card.current, CARD.width, CARD.height), scale);
  };
  const framesOf = async (of: ClipKind, signal: AbortSignal): Promise<readonly ClipFrame<Moment | DuelMoment>[]> => {
    if (of === 'duel') return duel ? duelFrames(duel) : [];
    if (of === 'rollout') return moment ? rolloutFrames(moment) : [];
    return trainingFrames(await keptBatches(signal), useLive.getState().vocabulary, moment?.rollout.row ?? 0);
  };
  const make = async (of: ClipKind) => {
    const control = new AbortController();
    work.current = control;
    const { signal } = control;
    setClip(null);
    setOutcome('');
    setProgress(0);
    try {
      const frames = await framesOf(of, signal);
      const blob = await makeClip({ frames, draw, signal, onProgress: setProgress });
      setClip({ kind: of, blob, address: await dataAddress(blob) });
      setOutcome(`${frames.length} pictures, ${bytes(blob.size)}.`);
    } catch (error) {
      setOutcome(signal.aborted ? 'Cancelled.' : `No clip: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setProgress(null);
      setDrawnMoment(duel ?? moment);
    }
  };
  const save = ({ kind: of, blob }: Clip) => {
    const name = fileName(`rollout-playground-${of}`, 'gif');
    download(name, 'image/gif', blob);
    setOutcome(`Saved as ${name}.`);
  };
  return (
    <>
      {clip ? (
        <img className="share-card" src={clip.address} alt={`The ${clip.kind} as a looping clip`} />
      ) : isDuel(drawnMoment) ? (
        <DuelCard ref={card} duel={drawnMoment} address={cardAddress()} />
      ) : (
        <Card ref={card} moment={drawnMoment} address={cardAddress()} />
      )}
      <div className="row share-actions">
        {progress === null ? (
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
            <progress value={progress} max={1} aria-label="Clip made" />
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

/** The button to film the training. Disabled with fewer than two stored updates. */
function TrainingButton({ press }: { readonly press: () => void }) {
  const recorded = useReplay((s) => s.recording?.batches.length ?? 0);
  const updates = useLive.getState().isExample ? recorded : useLive.getState().batchesInWorker.updates.length;
  return (
    <button type="button" disabled={updates < 2} onClick={press}>
      Film the training
    </button>
  );
}

const SIDE_GAP = 24;
const SIDE_WIDTH = (CARD.width - 2 * PAD - SIDE_GAP) / 2;
const NAME_Y = 200; // baseline of an agent's name
const BOARD = { y: 216, height: 268 };
const TOKENS = { y: 498, height: 76 };

interface Props {
  readonly duel: DuelMoment;
  readonly address: string; // without protocol
  readonly ref?: Ref<SVGSVGElement>;
}

function DuelCard({ duel, address, ref }: Props) {
  const { before, after, toolTrained } = duel;
  const { view, question } = after.episode;
  const headline = duelHeadline(duel);
  return (
    <CardFrame
      {...{ ref, headline, address }}
      title={taskTitle(view)}
      words={KINDS_WITHOUT_QUESTION.includes(view.kind) ? question : ''}
      note={maskNote(!toolTrained, false)}
    >
      <Side play={before} duel={duel} x={PAD} />
      <Side play={after} duel={duel} x={PAD + SIDE_WIDTH + SIDE_GAP} />
    </CardFrame>
  );
}

function Side({ play, duel, x }: { readonly play: Play; readonly duel: DuelMoment; readonly x: number }) {
  const { step, toolTrained } = duel;
  const { episode, rollout, stepEnds } = play;
  const { view } = episode;
  const over = isOver(play, step);
  const turn = turnAt(play, step);
  const shownView = viewUpTo(view, turn, over);
  const shownTokens = stepEnds[Math.min(step, stepEnds.length) - 1] ?? 0;
  const positions = rollout.turns
    .filter((each) => each.turn > 0)
    .flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens));
  const board = IS_SVG[view.kind];
  return (
    <>
      <text className="card-side" x={x} y={NAME_Y} fontSize={27}>
        {agentName(play)}
      </text>
      {over && (
        <text
          className={episode.success ? 'card-solved' : 'card-soft'}
          x={x + SIDE_WIDTH}
          y={NAME_Y}
          fontSize={25}
          textAnchor="end"
        >
          {episode.success ? '✓' : '✕'} {outcome(episode)}
        </text>
      )}
      {board && (
        <svg x={x} width={SIDE_WIDTH} {...BOARD}>
          <Drawing
            view={shownView}
            turn={turn}
            group={[shownView]}
            minRows={view.kind === 'number-line' ? view.guesses.length : 0}
            wide
          />
        </svg>
      )}
      <CardTokens
        rollout={rollout}
        positions={positions.filter((t) => t < shownTokens && rollout.tags[t] !== true)}
        isTrained={(t) => rollout.kinds[t] !== 'observation' || toolTrained}
        box={{ x, width: SIDE_WIDTH, ...(board ? TOKENS : { y: BOARD.y, height: TOKENS.y + TOKENS.height - BOARD.y }) }}
      />
    </>
  );
}

/** Largest size of a clip, in bytes. Many sites refuse larger ones. */
const MAX_CLIP_BYTES = 2e6;
const WIDTHS = [800, 600, 480]; // px; if the clip is too large, the next width is tried

/** Draws a moment, `scale` times the size of a card. */
export type DrawMoment<M> = (moment: M, scale: number) => Promise<HTMLCanvasElement>;

interface ClipOptions<M> {
  readonly frames: readonly ClipFrame<M>[];
  readonly draw: DrawMoment<M>;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void; // 0 to 1
}

/** At most `MAX_CLIP_BYTES`. Rejects if even the smallest width is too large, or with the signal's reason if aborted. */
export async function makeClip<M>({ frames, draw, signal, onProgress }: ClipOptions<M>): Promise<Blob> {
  const { Encoder } = await import('modern-gif');
  for (const width of WIDTHS) {
    const scale = width / CARD.width;
    const height = Math.round(CARD.height * scale);
    const encoder = new Encoder({ width, height, looped: true, loopCount: 0 });
    for (const [i, { moment, ms }] of frames.entries()) {
      signal.throwIfAborted();
      const canvas = await draw(moment, scale);
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height);
      if (!pixels) throw new Error('The browser drew no picture.');
      await encoder.encode({ data: pixels.data, width, height, delay: ms });
      onProgress((0.8 * (i + 1)) / frames.length);
      await nextTask(); // lets the page handle presses
    }
    const clip = await encoder.flush('blob');
    signal.throwIfAborted();
    if (clip.size <= MAX_CLIP_BYTES) return clip;
  }
  throw new Error(`The clip is larger than ${MAX_CLIP_BYTES / 1e6} MB. Choose a shorter rollout.`);
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

const MAX_BATCHES = 20; // batches of a run in a clip; each may need a request to the worker

/** The recording's batches, or up to `MAX_BATCHES` of the run's, evenly spread. Rejects with the signal's reason if aborted. */
async function keptBatches(signal: AbortSignal): Promise<readonly KeptBatch[]> {
  if (useLive.getState().isExample) return useReplay.getState().recording?.batches ?? [];
  const { updates } = useLive.getState().batchesInWorker;
  const batches: KeptBatch[] = [];
  for (const update of spread(updates, MAX_BATCHES)) {
    signal.throwIfAborted();
    const loaded = storedBatch(update);
    if (loaded) {
      batches.push(loaded);
      continue;
    }
    const answer = await question({ kind: 'batch', update });
    if (answer.kind === 'batch' && answer.kept) batches.push(answer.kept);
  }
  return batches;
}

/** At most `count` elements of a list, evenly spread, including the first and the last. */
export function spread<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, i) => list[Math.round((i * (list.length - 1)) / (count - 1))]).filter(
    (each) => each !== undefined,
  );
}

import type { ClipFrame } from './clipFrames.ts';
import { CARD } from './CardFrame.tsx';

/** Bytes of a clip at most: more is not taken in many places. */
const MOST_BYTES = 2e6;
const WIDTHS = [800, 600, 480]; // px; a smaller one is tried where the clip is too large

/** Draws a moment, `scale` times the size of a card. */
export type DrawMoment<M> = (moment: M, scale: number) => Promise<HTMLCanvasElement>;

interface Making<M> {
  readonly frames: readonly ClipFrame<M>[];
  readonly draw: DrawMoment<M>;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void; // 0 to 1
}

/** A looping GIF of frames, at most `MOST_BYTES` large. Rejects with the signal's reason once it is aborted, and where the smallest is too large. */
export async function makeClip<M>({ frames, draw, signal, onProgress }: Making<M>): Promise<Blob> {
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
      await nextTask(); // presses come through
    }
    const clip = await encoder.flush('blob');
    signal.throwIfAborted();
    if (clip.size <= MOST_BYTES) return clip;
  }
  throw new Error(`The clip is larger than ${MOST_BYTES / 1e6} MB. Choose a shorter rollout.`);
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

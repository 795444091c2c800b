import { useRef, useState } from 'react';
import { download, fileName } from '../export/fileDownload.ts';
import { pngOf, standAlone } from '../export/svg.ts';
import { Card } from './Card.tsx';
import { CARD } from './CardFrame.tsx';
import type { Moment } from './moment.ts';
import { NothingToDraw } from './NothingToDraw.tsx';
import { readableAddress } from './sharedAddress.ts';

/** The moment in view as a picture: drawn here, copied or saved as PNG. */
export function SharePicture({ moment }: { readonly moment: Moment | null }) {
  const card = useRef<SVGSVGElement>(null);
  const [outcome, setOutcome] = useState('');
  if (!moment) return <NothingToDraw />;
  const png = async () => {
    if (!card.current) throw new Error('The picture is not drawn yet.');
    return pngOf(standAlone(card.current, CARD.width, CARD.height), 1);
  };
  const act = async (verb: string, work: () => Promise<string>) => {
    try {
      setOutcome(await work());
    } catch (error) {
      setOutcome(`Not ${verb}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const save = async () => {
    const name = fileName(`rollout-playground-update-${moment.batch.update}`, 'png');
    download(name, 'image/png', await png());
    return `Saved as ${name}.`;
  };
  const copy = async () => {
    if (!('clipboard' in navigator) || !('ClipboardItem' in globalThis)) {
      throw new Error('this browser can’t copy pictures. Save it instead.');
    }
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png() })]);
    return 'Copied.';
  };
  return (
    <>
      <Card ref={card} moment={moment} address={readableAddress()} />
      <div className="row share-actions">
        <button type="button" className="primary" onClick={() => void act('saved', save)}>
          Save PNG
        </button>
        <button type="button" onClick={() => void act('copied', copy)}>
          Copy picture
        </button>
        <span className="faint" role="status">
          {outcome}
        </span>
      </div>
    </>
  );
}

import { useState, type RefObject } from 'react';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { pictureOf, pngOf, type Caption } from '../../page/browser/svg.ts';

interface Props {
  readonly chart: RefObject<HTMLElement | null>; // contains the drawing
  readonly caption: () => Caption;
  readonly csv: () => string;
}

export function PictureButtons({ chart, caption, csv }: Props) {
  const [message, setMessage] = useState('');
  const picture = () => {
    const drawing = chart.current?.querySelector('svg');
    if (!drawing) throw new Error('There is no curve yet.');
    return pictureOf(drawing, caption());
  };
  const save = async (ending: 'svg' | 'png' | 'csv') => {
    const name = fileName(caption().title, ending);
    try {
      if (ending === 'csv') download(name, 'text/csv', csv());
      else if (ending === 'svg') download(name, 'image/svg+xml', picture().svg);
      else download(name, 'image/png', await pngOf(picture()));
      setMessage(`Saved as ${name}.`);
    } catch (error) {
      setMessage(`Not saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return (
    <div className="row">
      <button type="button" onClick={() => void save('svg')}>
        SVG
      </button>
      <button type="button" onClick={() => void save('png')}>
        PNG
      </button>
      <button type="button" onClick={() => void save('csv')}>
        CSV
      </button>
      <span className="faint" role="status">
        {message}
      </span>
    </div>
  );
}

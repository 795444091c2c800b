import { useState } from 'react';
import { currentRoute } from '../address/route.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { useSelection } from '../shell/selectionStore.ts';
import { CopyField } from './CopyField.tsx';
import { ShareClip } from './ShareClip.tsx';
import { ShareFrame } from './ShareFrame.tsx';
import { ShareLink } from './ShareLink.tsx';
import { SharePicture } from './SharePicture.tsx';
import { momentInView } from './moment.ts';
import '../styles/share.css';

/** Ways to share what is seen. */
const WAYS = {
  link: { label: 'Link', Component: ShareLink },
  picture: { label: 'Picture', Component: SharePicture },
  clip: { label: 'Clip', Component: ShareClip },
  embed: { label: 'Embed', Component: ShareFrame },
} as const;
type Way = keyof typeof WAYS;

/** Shares what is seen: as a link, a picture, a clip or a frame for another page. */
export function ShareDialog() {
  const [way, setWay] = useState<Way>('link');
  const [moment] = useState(momentInView); // training goes on behind the dialog
  if (currentRoute() === 'experiments') return <ShareExperiment />;
  const { Component } = WAYS[way];
  return (
    <Dialog title="Share" className="help share" onClose={close}>
      <div className="segments" role="group" aria-label="What to share">
        {(Object.keys(WAYS) as Way[]).map((each) => (
          <button key={each} type="button" aria-pressed={each === way} onClick={() => setWay(each)}>
            {WAYS[each].label}
          </button>
        ))}
      </div>
      <Component moment={moment} />
    </Dialog>
  );
}

/** An experiment has no knobs of its own: its address, which follows the form, is the link. */
function ShareExperiment() {
  return (
    <Dialog title="Share" className="help share" onClose={close}>
      <p>The link holds the experiment with its seeds, arms and backend, no results.</p>
      <CopyField text={location.href} label="Link" copy="Copy link" />
    </Dialog>
  );
}

const close = () => useSelection.setState({ sharing: false });

import { useState, useRef } from 'react';
import { currentRoute } from '../../page/address/route.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { useSelection } from '../../page/view/selectionStore.ts';
import { CopyField } from '../parts/CopyField.tsx';
import { ShareClip } from './ShareClip.tsx';
import { momentInView, type Moment } from '../../page/share/moment.ts';
import { HIDEABLE } from '../../page/address/hash.ts';
import { hasOwnAddress, type Route, type EmbedPanel, EMBED_PANELS, type Panel } from '../../page/address/screens.ts';
import { readRolloutsHash } from '../../page/files/rolloutsAddress.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { linkedRun, type LinkableRun, type Unlinkable } from '../../page/share/linkedRun.ts';
import { cardAddress, embedHash, shownSelection, pageAddress, sharedHash } from '../../page/share/sharedAddress.ts';
import { ExportRun } from '../export/ExportRun.tsx';
import { describedChanges } from '../../runs/change.ts';
import { ChangeList } from '../charts/ChangeList.tsx';
import { counted } from '../../page/words/numberText.ts';
import { latestCheckpoint } from '../../page/runs/saving.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { pngOf, standalonePicture } from '../../page/browser/svg.ts';
import { Card } from './Card.tsx';
import { CARD, NothingToDraw } from './CardFrame.tsx';
import { visible } from '../../base/visible.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { nextEnvironment } from '../../page/training/engine.ts';
import './share.css';

const WAYS = {
  link: { label: 'Link', Component: ShareLink },
  picture: { label: 'Picture', Component: SharePicture },
  clip: { label: 'Clip', Component: ShareClip },
  embed: { label: 'Embed', Component: ShareFrame },
} as const;
type Way = keyof typeof WAYS;

export function ShareDialog() {
  const [way, setWay] = useState<Way>('link');
  const [moment] = useState(momentInView); // training goes on behind the dialog
  if (hasOwnAddress(currentRoute())) return <ShareAddress />;
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

/** What the link to a screen holds whose address isn't one of knobs and a selection. */
const OWN_ADDRESSES: Partial<Record<Route, string>> = {
  experiments: 'The link holds the experiment with its seeds, arms and backend, no results.',
  environment: 'The link opens the editor without your text. Share by link… in the editor makes a link to the text.',
  rollouts: 'The link opens this screen without your files. Whoever opens it chooses files of their own.',
};

/** The share dialog of a screen with an address of its own, which is the link. */
function ShareAddress() {
  const route = currentRoute();
  const needsFiles = route === 'rollouts' && !readRolloutsHash(location.hash).sample;
  return (
    <Dialog title="Share" className="help share" onClose={close}>
      <p>{route === 'rollouts' && !needsFiles ? 'The link opens this sample.' : OWN_ADDRESSES[route]}</p>
      <CopyField text={needsFiles ? `${pageAddress()}#/rollouts` : location.href} label="Link" copy="Copy link" />
    </Dialog>
  );
}

const close = () => useSelection.setState({ sharing: false });

const PART_NAMES: Readonly<Record<string, string>> = {
  controls: 'all controls',
  curves: 'curves',
  inspector: 'token panel',
  preset: 'preset menu',
  screens: 'other screens',
  masks: 'the two mask switches',
  expert: 'all other mask settings',
};

/** The link to what is on the screen. It can hide parts of the page from people who open it, such as a class. */
function ShareLink() {
  useConfig((s) => s.wanted);
  useLive((s) => s.update); // training goes on behind the dialog
  const linked = linkedRun();
  const [hidden, setHidden] = useState(() => useSelection.getState().hide.split(',').filter(Boolean));
  const hide = HIDEABLE.filter((part) => hidden.includes(part)).join();
  const selected = { ...shownSelection(linked), hide };
  const hash = sharedHash(linked, selected);
  return (
    <>
      <p>
        {linked.unlinkable
          ? 'The link holds the knobs and the seed, not this run.'
          : selected.recorded === null
            ? 'The link holds the knobs, the seed and your selection. Opening it and training gives the same run again, from update 0. The weights come out the same on the CPU backend, and on WebGPU with the same adapter and kernels.'
            : `The link opens update ${selected.recorded} of this recording, with your selection.`}
      </p>
      <OwnEnvironment />
      {selected.recorded === null && <ChangedRun linked={linked} />}
      <CopyField key={hash} text={`${pageAddress()}${hash}`} label="Link" copy="Copy link" />
      <fieldset>
        <legend>Parts of the page that the link hides, for example from students</legend>
        {HIDEABLE.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={hidden.includes(part)}
              onChange={({ target }) =>
                setHidden(target.checked ? [...hidden, part] : hidden.filter((each) => each !== part))
              }
            />
            {PART_NAMES[part] ?? `${part} knobs`}
          </label>
        ))}
      </fieldset>
    </>
  );
}

const REASONS: Readonly<Record<Unlinkable, string>> = {
  environment: 'A link never includes the environment of this run.',
  fork: 'This run began with the weights of another run or of a model’s file.',
  lost: 'This run has more changes of knobs than the page keeps, or comes from an older version of it.',
  long: 'This run has too many changes of knobs for a link.',
  person: 'Your own choices trained this run’s reward model.',
};

interface Props {
  readonly linked: LinkableRun;
}

/** If the link can't hold the current run: says why, and offers its file. Empty without changes. */
function ChangedRun({ linked: { startConfig, changes, unlinkable } }: Props) {
  const isOwn = useConfig((state) => state.wanted.env === YOUR_ENVIRONMENT);
  if (unlinkable === 'environment' && isOwn) return null; // `OwnEnvironment` says it
  if (unlinkable) return <OnlyInAFile why={REASONS[unlinkable]} />;
  if (changes.length === 0) return null;
  return (
    <section className="note stack" aria-label="Knobs changed on the way" data-testid="link-changes">
      <p>The link also holds {counted(changes.length, 'change')} of knobs, each at its update:</p>
      <ChangeList changes={describedChanges(startConfig, changes)} />
    </section>
  );
}

function OnlyInAFile({ why }: { readonly why: string }) {
  const { flags } = useLive.getState();
  return (
    <section className="note stack" aria-label="The run under way" data-testid="link-leaves-out">
      <p>
        <b>This link opens another run.</b> {why} The link starts a new run with the knobs as they are now.
      </p>
      {flags.length > 0 && <ChangeList changes={flags} />}
      {latestCheckpoint() && (
        <p className="row">
          To hand on this very run, send its file:
          <ExportRun run={latestCheckpoint} label="Save the run’s file" small>
            Save the run’s file
          </ExportRun>
        </p>
      )}
    </section>
  );
}

function SharePicture({ moment }: { readonly moment: Moment | null }) {
  const card = useRef<SVGSVGElement>(null);
  const [outcome, setOutcome] = useState('');
  if (!moment) return <NothingToDraw />;
  const png = async () => {
    if (!card.current) throw new Error('The picture is not drawn yet.');
    return pngOf(standalonePicture(card.current, CARD.width, CARD.height), 1);
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
      <Card ref={card} moment={moment} address={cardAddress()} />
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

const PANELS = Object.keys(EMBED_PANELS) as EmbedPanel[];

/** The only screen that has a panel; undefined if every screen has it. */
function screenOf(name: EmbedPanel): Route | undefined {
  const { of }: Panel = EMBED_PANELS[name];
  return of;
}

function ShareFrame() {
  const route = currentRoute();
  const [panel, setPanel] = useState<EmbedPanel>(
    PANELS.find((each) => screenOf(each) === route) ?? (route === 'stage' ? 'stage' : 'rollout'),
  );
  useConfig((s) => s.wanted);
  const address = `${pageAddress()}?embed=${panel}${embedHash(panel, linkedRun())}`;
  return (
    <>
      <p>Paste this into a page of yours. It shows one panel, with a link to the whole page.</p>
      <div className="segments" role="group" aria-label="Panel">
        {PANELS.filter((each) => [undefined, route].includes(screenOf(each))).map((each) => (
          <button key={each} type="button" aria-pressed={each === panel} onClick={() => setPanel(each)}>
            {EMBED_PANELS[each].label}
          </button>
        ))}
      </div>
      <OwnEnvironment />
      <CopyField key={panel} text={frameSnippet(panel, address)} label="Code" copy="Copy code" lines={5} />
      <p className="small">
        <a href={address} target="_blank" rel="noopener">
          See the panel alone
        </a>
      </p>
    </>
  );
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
const attribute = (text: string) => text.replace(/[&"<>]/g, (character) => ENTITIES[character] ?? character);

export function frameSnippet(panel: EmbedPanel, address: string): string {
  const { label, height } = EMBED_PANELS[panel];
  return `<iframe src="${attribute(address)}" title="Rollout Playground: ${label.toLowerCase()}" width="100%" height="${height}" style="border:0" loading="lazy"></iframe>`;
}

/** Says that the link doesn't hold the person's own environment, and how to send it. Renders nothing for other environments. */
function OwnEnvironment() {
  const isOwn = useConfig((s) => s.wanted.env === YOUR_ENVIRONMENT);
  if (!isOwn) return null;
  const file = nextEnvironment();
  const server = serverNamed(file);
  if (server !== null) {
    return (
      <p className="note" data-testid="link-leaves-environment">
        <b>This link doesn’t hold the server’s address {server}.</b> Someone who opens the link gets only the knobs, and
        can name a server of their own.
      </p>
    );
  }
  return (
    <section className="note stack" aria-label="Your environment" data-testid="link-leaves-environment">
      <p>
        <b>This link doesn’t hold the environment{file && ` ${visible(file.name)}`}.</b> It’s a program, so a link to a
        run never includes it. Someone who opens the link gets only the knobs and can’t train. Share the environment
        from <a href="#/environment">its editor</a>, or send this run as a file, which includes the environment.
      </p>
      {latestCheckpoint() && (
        <p className="row">
          <ExportRun run={latestCheckpoint} label="Save the run’s file" small>
            Save the run’s file
          </ExportRun>
        </p>
      )}
    </section>
  );
}

import { useEffect } from 'react';
import { CATALOGUE, HUB, type OfferedModel } from '../../hub/modelCatalogue.ts';
import type { StoredModel } from '../../hub/storedModels.ts';
import type { Listing } from '../../hub/listing.ts';
import { bytes, count } from '../../page/words/numberText.ts';
import { checkedInWords } from '../../page/models/modelText.ts';
import {
  requestListing,
  downloadModel,
  openKept,
  pauseDownload,
  refreshKept,
  removeKept,
  useDownloads,
} from '../../page/models/downloads.ts';

/** Models to download, with address, size and licence. The page contacts no server before a button is pressed. */
export function Catalogue() {
  const kept = useDownloads((s) => s.kept);
  useEffect(() => void refreshKept(), []);
  const others = kept.filter(({ listing }) => !CATALOGUE.some(({ id }) => id === listing.id));
  return (
    <section className="panel stack catalogue" aria-labelledby="catalogue-title">
      <h3 id="catalogue-title">Or download one</h3>
      <p className="soft small">
        A model comes from {HUB} and stays in this browser’s storage until you remove it. You’ll see the list of files
        before anything is downloaded.
      </p>
      <ul>
        {CATALOGUE.map((model) => (
          <Offer key={model.id} model={model} kept={kept.find(({ listing }) => listing.id === model.id)} />
        ))}
        {others.map((model) => (
          <li key={model.listing.id} className="offer">
            <h4>{model.listing.id}</h4>
            <KeptModelRow kept={model} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface OfferProps {
  readonly model: OfferedModel;
  readonly kept: StoredModel | undefined;
}

function Offer({ model: { id, label, parameters, bytes: approximateBytes, license, note }, kept }: OfferProps) {
  const { requestedId, shownListing, download, problem } = useDownloads();
  const busy = requestedId !== null || download !== null;
  return (
    <li className="offer" aria-label={label}>
      <div className="row between">
        <h4>{label}</h4>
        <span className="small soft">
          {count(parameters)} parameters · about {bytes(approximateBytes)} · {license}
        </span>
      </div>
      <p className="small soft">
        {note} <span className="mono faint">{`${HUB}/${id}`}</span>
      </p>
      {download?.id === id ? (
        <div className="row" role="status">
          <progress value={download.bytes} max={download.totalBytes} aria-label={`${label} fetched`} />
          <span className="small soft">
            {bytes(download.bytes)} of {bytes(download.totalBytes)}
            {download.name && ` · ${download.name}`}
          </span>
          <button type="button" className="small end" onClick={pauseDownload}>
            Pause
          </button>
        </div>
      ) : shownListing?.id === id ? (
        <FilesToDownload listing={shownListing} />
      ) : kept ? (
        <KeptModelRow kept={kept} />
      ) : (
        <div className="row">
          <button
            type="button"
            className="small"
            disabled={busy}
            aria-label={`Download ${label}…`}
            onClick={() => requestListing(id)}
          >
            {requestedId === id ? 'Asking the hub …' : 'Download…'}
          </button>
        </div>
      )}
      {problem?.id === id && (
        <p className="note bad small" role="alert">
          {problem.message}
        </p>
      )}
    </li>
  );
}

function FilesToDownload({ listing }: { readonly listing: Listing }) {
  const total = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <div className="stack listed">
      <p className="small">
        {listing.address}, commit <span className="mono">{listing.revision.slice(0, 8)}</span>, licence{' '}
        <b>{listing.license ?? 'not said'}</b>
      </p>
      <ul className="small soft">
        {listing.files.map(({ name, bytes: fileBytes, sha256, gitSha1 }) => (
          <li key={name} className="row between">
            <span className="mono">{name}</span>
            <span>
              {bytes(fileBytes)}
              <span className="faint">{sha256 ? ' · SHA-256' : gitSha1 ? ' · SHA-1' : ' · no checksum'}</span>
            </span>
          </li>
        ))}
      </ul>
      <div className="row">
        <button type="button" className="primary small" onClick={() => downloadModel(listing)}>
          Download {bytes(total)}
        </button>
        <button type="button" className="quiet small" onClick={() => useDownloads.setState({ shownListing: null })}>
          Leave it
        </button>
      </div>
    </div>
  );
}

function KeptModelRow({ kept: { listing, bytes: downloadedBytes, complete } }: { readonly kept: StoredModel }) {
  const busy = useDownloads((s) => s.download !== null || s.requestedId !== null);
  const total = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <div className="row">
      {complete ? (
        <button type="button" className="primary small" onClick={() => void openKept(listing)}>
          Open
        </button>
      ) : (
        <button type="button" className="primary small" disabled={busy} onClick={() => downloadModel(listing)}>
          Resume
        </button>
      )}
      <span className="small soft">
        {complete
          ? `${bytes(total)} in this browser, ${checkedInWords(listing)}`
          : `${bytes(downloadedBytes)} of ${bytes(total)} are here`}
      </span>
      <button type="button" className="quiet small end" disabled={busy} onClick={() => void removeKept(listing.id)}>
        Remove
      </button>
    </div>
  );
}

import { useEffect } from 'react';
import { CATALOGUE, HUB, type OfferedModel } from '../../hub/modelCatalogue.ts';
import type { KeptModel } from '../../hub/keptModels.ts';
import type { Listing } from '../../hub/listing.ts';
import { bytes, count } from '../parts/numberText.ts';
import { checkedInWords } from './modelText.ts';
import { ask, fetchModel, openKept, pauseFetching, refreshKept, remove, useDownloads } from './downloads.ts';

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
            <Kept kept={model} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface OfferProps {
  readonly model: OfferedModel;
  readonly kept: KeptModel | undefined;
}

function Offer({ model: { id, label, parameters, bytes: approximateBytes, license, note }, kept }: OfferProps) {
  const { asking, listed, fetching, problem } = useDownloads();
  const busy = asking !== null || fetching !== null;
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
      {fetching?.id === id ? (
        <div className="row" role="status">
          <progress value={fetching.bytes} max={fetching.of} aria-label={`${label} fetched`} />
          <span className="small soft">
            {bytes(fetching.bytes)} of {bytes(fetching.of)}
            {fetching.name && ` · ${fetching.name}`}
          </span>
          <button type="button" className="small end" onClick={pauseFetching}>
            Pause
          </button>
        </div>
      ) : listed?.id === id ? (
        <Listed listing={listed} />
      ) : kept ? (
        <Kept kept={kept} />
      ) : (
        <div className="row">
          <button
            type="button"
            className="small"
            disabled={busy}
            aria-label={`Download ${label}…`}
            onClick={() => ask(id)}
          >
            {asking === id ? 'Asking the hub …' : 'Download…'}
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

/** The files of a model, listed before they are downloaded. */
function Listed({ listing }: { readonly listing: Listing }) {
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
        <button type="button" className="primary small" onClick={() => fetchModel(listing)}>
          Download {bytes(total)}
        </button>
        <button type="button" className="quiet small" onClick={() => useDownloads.setState({ listed: null })}>
          Leave it
        </button>
      </div>
    </div>
  );
}

/** A model in the browser's storage, downloaded completely or partly. */
function Kept({ kept: { listing, bytes: downloadedBytes, complete } }: { readonly kept: KeptModel }) {
  const busy = useDownloads((s) => s.fetching !== null || s.asking !== null);
  const total = listing.files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <div className="row">
      {complete ? (
        <button type="button" className="primary small" onClick={() => void openKept(listing)}>
          Open
        </button>
      ) : (
        <button type="button" className="primary small" disabled={busy} onClick={() => fetchModel(listing)}>
          Resume
        </button>
      )}
      <span className="small soft">
        {complete
          ? `${bytes(total)} in this browser, ${checkedInWords(listing)}`
          : `${bytes(downloadedBytes)} of ${bytes(total)} are here`}
      </span>
      <button type="button" className="quiet small end" disabled={busy} onClick={() => void remove(listing.id)}>
        Remove
      </button>
    </div>
  );
}

import { Component, type ReactNode } from 'react';
import '../styles/boundary.css';
import { isLoadFailure, noteFailure, useNewVersion } from './newVersion.ts';
import { ReloadButton } from './ReloadButton.tsx';

interface Props {
  readonly name: string; // of what may fail, as a sentence begins: The curves
  readonly area?: string; // of the page's grid, where it stands in one
  readonly children: ReactNode;
}
interface State {
  readonly error: Error | null;
  readonly sure: boolean; // asked once whether everything is to be forgotten
}

/** Where a part of the page cannot be drawn: says so in its place, with what can be done; the rest of the page stays, and so does the run. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null, sure: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)), sure: false };
  }

  override componentDidCatch(error: unknown): void {
    void noteFailure(error);
  }

  override render(): ReactNode {
    const { error, sure } = this.state;
    if (!error) return this.props.children;
    if (isLoadFailure(error)) return <MissingPart {...this.props} />;
    const forget = () => (sure ? void deleteLocalData() : this.setState({ sure: true }));
    const { name, area } = this.props;
    return (
      <Broken area={area}>
        <p>
          <b>{name} cannot be shown.</b> Training and the other parts of the page go on.
        </p>
        <p className="faint">{error.message}</p>
        <div className="row">
          <button type="button" className="primary" onClick={() => this.setState({ error: null, sure: false })}>
            Try again
          </button>
          <a href="#/lab" onClick={() => this.setState({ error: null, sure: false })}>
            Go to the lab
          </a>
          <button type="button" onClick={() => location.reload()}>
            Load the page anew
          </button>
          <button type="button" className="quiet" onClick={forget}>
            {sure
              ? 'Yes: forget all runs, experiments, facts and choices kept here'
              : 'Forget what this browser keeps of this page'}
          </button>
        </div>
      </Broken>
    );
  }
}

/** The panel in the place of a part that is missing. */
function Broken({ area, children }: { readonly area: string | undefined; readonly children: ReactNode }) {
  return (
    <section
      className="stack broken panel"
      role="alert"
      data-testid="broken"
      style={{ gridArea: area }}
      data-area={area}
    >
      {children}
    </section>
  );
}

/** In the place of a part that could not be loaded. Trying again is of no use: what a page failed to load it does not load again. */
function MissingPart({ name, area }: Pick<Props, 'name' | 'area'>) {
  const isNew = useNewVersion((s) => s.isThere);
  return (
    <Broken area={area}>
      <p>
        <b>{name} could not be loaded.</b>{' '}
        {isNew ? 'There is a new version of this page.' : 'Check the connection, then reload.'} Training goes on.
      </p>
      <p className="faint">After the reload you can resume the run in the lab.</p>
      <div className="row">
        <ReloadButton />
        <a href="#/lab">Go to the lab</a>
      </div>
    </Broken>
  );
}

const PREFIX = 'rollout-playground';

/** Deletes everything that the page stored in this browser, and reloads it. For when stored data breaks the page itself. */
async function deleteLocalData(): Promise<void> {
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) localStorage.removeItem(key);
  } catch {
    // where storage is refused nothing is kept
  }
  await Promise.all([PREFIX, `${PREFIX}-kernels`].map(deleted));
  location.assign(location.pathname);
}

/** Resolves when a database is gone, or when the browser has not answered for two seconds: the page is loaded again in any case. */
function deleted(name: string): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2000);
    try {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = () => resolve();
      request.onerror = () => resolve();
    } catch {
      resolve();
    }
  });
}

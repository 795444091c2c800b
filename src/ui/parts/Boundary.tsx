import { Component, type ReactNode } from 'react';
import { isLoadFailure, noteFailure, useNewVersion } from '../../page/browser/newVersion.ts';
import { ReloadButton } from './ReloadButton.tsx';
import './boundary.css';

interface Props {
  readonly name: string; // of the part that may fail, as it begins a sentence: The curves
  readonly area?: string; // grid area of the part, if it lies in the page's grid
  readonly children: ReactNode;
}
interface State {
  readonly error: Error | null;
  readonly confirming: boolean; // “Forget …” was pressed once and asks again
}

/** Shows a message, with what to do, in place of a part that fails. The rest of the page and the run go on. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null, confirming: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)), confirming: false };
  }

  override componentDidCatch(error: unknown): void {
    void noteFailure(error);
  }

  override render(): ReactNode {
    const { error, confirming } = this.state;
    if (!error) return this.props.children;
    if (isLoadFailure(error)) return <MissingPart {...this.props} />;
    const forget = () =>
      confirming
        ? void import('../../page/browser/deleteLocalData.ts').then((m) => m.deleteLocalData())
        : this.setState({ confirming: true });
    const { name, area } = this.props;
    return (
      <FailedPart area={area}>
        <p>
          <b>{name} cannot be shown.</b> Training and the other parts of the page go on.
        </p>
        <p className="faint">{error.message}</p>
        <div className="row">
          <button type="button" className="primary" onClick={() => this.setState({ error: null, confirming: false })}>
            Try again
          </button>
          <a href="#/lab" onClick={() => this.setState({ error: null, confirming: false })}>
            Go to the lab
          </a>
          <button type="button" onClick={() => location.reload()}>
            Load the page anew
          </button>
          <button type="button" className="quiet" onClick={forget}>
            {confirming
              ? 'Yes: forget all runs, experiments, facts and choices kept here'
              : 'Forget what this browser keeps of this page'}
          </button>
        </div>
      </FailedPart>
    );
  }
}

function FailedPart({ area, children }: { readonly area: string | undefined; readonly children: ReactNode }) {
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

/** Has no “Try again”: a browser doesn't repeat an import that failed. */
function MissingPart({ name, area }: Pick<Props, 'name' | 'area'>) {
  const isNew = useNewVersion((s) => s.isThere);
  return (
    <FailedPart area={area}>
      <p>
        <b>{name} could not be loaded.</b>{' '}
        {isNew ? 'There is a new version of this page.' : 'Check the connection, then reload.'} Training goes on.
      </p>
      <p className="faint">After the reload you can resume the run in the lab.</p>
      <div className="row">
        <ReloadButton />
        <a href="#/lab">Go to the lab</a>
      </div>
    </FailedPart>
  );
}

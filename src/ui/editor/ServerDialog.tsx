import { useId, useState } from 'react';
import { DEFAULTS } from '../../config/fields.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { serverKnobs, SERVER_PRESET } from '../../config/presets.ts';
import { isServerAddress, readServerAddress, type ServerAddress, serverFile } from '../../domain/serverAddress.ts';
import { editKnobs, useConfig } from '../../page/knobs/configStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { setEnvironment, nextEnvironment, start } from '../../page/training/engine.ts';

const EXAMPLE_ADDRESS = 'ws://127.0.0.1:8000/ws';

/** Asks for the address of an OpenEnv server on this machine. Nothing is sent to it before its button is pressed. */
export function ServerDialog({ close }: { readonly close: () => void }) {
  const [text, setText] = useState(initialAddress);
  const trainsAdapters = useConfig((s) => s.wanted.model === 'checkpoint');
  const [fieldId, hintId] = [useId(), useId()];
  const { address, problem } = parseAddress(text);
  return (
    <Dialog title="Train on an OpenEnv server" className="help server-dialog" onClose={close}>
      <div className="stack">
        <p>
          Your environment runs as a server on this machine, and{' '}
          {trainsAdapters ? 'the language model' : 'a small text agent'} calls its tools. Start the server first, with
          as many sessions as a batch has rollouts.
        </p>
        <label htmlFor={fieldId}>Address</label>
        <input
          {...{ id: fieldId, type: 'text', spellCheck: false, autoCapitalize: 'off', autoComplete: 'off' }}
          className="mono"
          value={text}
          aria-invalid={problem !== null}
          aria-describedby={hintId}
          onChange={({ target }) => setText(target.value)}
        />
        <p
          id={hintId}
          className={problem === null ? 'faint small' : 'small'}
          role={problem === null ? undefined : 'alert'}
        >
          {problem ?? 'It may hold options, such as ?turns=8 for longer episodes. Nothing is sent before you press.'}
        </p>
        {!isServedHere(location.hostname) && (
          <p className="note" data-testid="hosted-page">
            This page comes from another machine. Chrome asks for permission to reach this one; Safari refuses. If it
            doesn’t connect, start the page here with <code translate="no">npm start</code>.
          </p>
        )}
        <div className="row">
          <button
            type="button"
            className="primary"
            disabled={address === null}
            onClick={() => {
              if (address) trainOnServer(address);
            }}
          >
            {address ? `Connect to ${address.host} and train` : 'Connect and train'}
          </button>
          <button type="button" className="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** The address of the server that runs train on now, or an example. */
function initialAddress(): string {
  const environment = nextEnvironment();
  return environment && isServerAddress(environment.text) ? environment.text : EXAMPLE_ADDRESS;
}

function parseAddress(text: string): { readonly address: ServerAddress | null; readonly problem: string | null } {
  try {
    return { address: readServerAddress(text), problem: null };
  } catch (error) {
    return { address: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

function isServedHere(hostname: string): boolean {
  return hostname === '127.0.0.1' || hostname === 'localhost' || hostname === '[::1]';
}

/** Begins a fresh run on a server and connects to it. Trains the small text agent unless a language model is chosen. */
function trainOnServer(address: ServerAddress): void {
  const { model } = useConfig.getState().wanted;
  setEnvironment(serverFile(address));
  editKnobs(model === 'checkpoint' ? serverKnobs({ model }) : { ...DEFAULTS, ...SERVER_PRESET.set });
  useConfig.setState({ preset: YOUR_ENVIRONMENT });
  start(true);
  location.assign('#/lab');
}

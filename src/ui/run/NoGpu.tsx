import './noGpu.css';
interface Props {
  readonly reason: string; // a sentence
  readonly isBeforeRun?: boolean; // nothing has been run yet
}

const INSECURE_REASON = 'This page came over http from another machine, so the browser turns WebGPU off.';

export function NoGpu({ reason, isBeforeRun = false }: Props) {
  return (
    <details className={isBeforeRun ? 'note no-gpu' : 'small note no-gpu brief'} data-testid="no-gpu">
      <summary title={isBeforeRun ? undefined : reason}>
        <b>{isSecureContext ? reason : INSECURE_REASON}</b>{' '}
        {isBeforeRun ? 'Training will run on the CPU.' : 'Training runs on the CPU.'} What can I do?
      </summary>
      <ul>
        <li>
          Nothing: the CPU trains too. An update of the smallest models takes less than a second, one of a checkpoint
          minutes.
        </li>
        {!isSecureContext && <li>Open the page over https, or on this machine as http://localhost.</li>}
        <li>Use a browser with WebGPU: Chrome or Edge 113, Safari 26, Firefox 141 or newer.</li>
        <li>Switch graphics acceleration on in the browser’s settings, and update the graphics driver.</li>
      </ul>
    </details>
  );
}

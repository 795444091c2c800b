import { cancel, type ModelRefusal, useModels } from '../../page/models/modelStore.ts';

export function OpeningMessages() {
  const looking = useModels((s) => s.readingName);
  const refused = useModels((s) => s.refusal);
  const problem = useModels((s) => s.problem);
  const overdue = useModels((s) => s.overdue);
  return (
    <div aria-live="polite" className="stack">
      {(looking !== null || overdue) && (
        <div className="row">
          <p className="soft">
            {looking ? `Reading the headers of ${looking} …` : 'The model hasn’t answered for some seconds.'}
          </p>
          <button type="button" className="small" onClick={cancel}>
            Cancel
          </button>
        </div>
      )}
      {refused && (
        <div className="note bad" role="alert">
          <p>
            <b>{doReasonsNameFile(refused) ? 'This file' : refused.name} can’t be opened.</b> Nothing has changed.
          </p>
          <ul className="small">
            {refused.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </div>
      )}
      {problem && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Whether the reasons already name the file. */
const doReasonsNameFile = ({ name, reasons }: ModelRefusal) => reasons.some((reason) => reason.startsWith(name));

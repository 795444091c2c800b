import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import '../styles/tokens.css';
import '../styles/rollouts.css';
import '../styles/models.css';
import { ModelCardPanel } from './ModelCardPanel.tsx';
import { Catalogue } from './Catalogue.tsx';
import { Chat } from './Chat.tsx';
import { Likeliest } from './Likeliest.tsx';
import { cancel, useModels } from './modelStore.ts';
import { TraineePanel } from './Trainee.tsx';
import { TrainIt } from './TrainIt.tsx';
import { Pick, PickBar } from './Pick.tsx';

/** Checkpoints from elsewhere: what they are, and talking with them. */
export function Models() {
  const card = useModels((s) => s.card);
  const opened = useModels((s) => s.opened !== null);
  return (
    <>
      <Header />
      <main className="models screen pane" data-pane="watch" data-open={opened} data-card={card !== null}>
        <h2 className="visually-hidden">Models</h2>
        {card ? (
          <>
            <div className="models-side">
              <PickBar />
              <Told />
              <ModelCardPanel card={card} />
              {!opened && <TraineePanel />}
              <TrainIt card={card} />
            </div>
            {opened && <Chat />}
            {opened && <Likeliest />}
          </>
        ) : (
          <div className="models-welcome">
            <TraineePanel />
            <Pick>
              <Told />
            </Pick>
            <Catalogue />
          </div>
        )}
      </main>
      <StatusLine />
    </>
  );
}

/** What is read just now, what was refused, what went wrong. */
function Told() {
  const looking = useModels((s) => s.looking);
  const refused = useModels((s) => s.refused);
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
            <b>{refused.name} can’t be opened.</b> Nothing has changed.
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

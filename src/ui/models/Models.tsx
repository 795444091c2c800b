import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import '../styles/tokens.css';
import '../styles/rollouts.css';
import '../styles/models.css';
import { ModelCardPanel } from './ModelCardPanel.tsx';
import { Catalogue } from './Catalogue.tsx';
import { Chat } from './Chat.tsx';
import { Likeliest } from './Likeliest.tsx';
import { useModels } from './modelStore.ts';
import { Reading } from './Reading.tsx';
import { TrainLink } from './TrainLink.tsx';
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
              <Reading />
              <ModelCardPanel card={card} />
              <TrainLink card={card} />
            </div>
            {opened && <Chat />}
            {opened && <Likeliest />}
          </>
        ) : (
          <div className="models-welcome">
            <Pick>
              <Reading />
            </Pick>
            <Catalogue />
          </div>
        )}
      </main>
      <StatusLine />
    </>
  );
}

import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { Catalogue } from './Catalogue.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { useModels } from '../../page/models/modelStore.ts';
import { ModelPicker, SmallModelPicker, OpeningMessages } from './ModelPicker.tsx';
import { TraineePanel } from '../knobs/Trainee.tsx';
import { TrainingPanel } from './TrainingPanel.tsx';
import './models.css';

export function TrainScreen() {
  const card = useModels((s) => s.card);
  const hasRun = useLive((s) => s.session === 'ready');
  return (
    <>
      <Header />
      <main className="models screen pane" data-pane="watch" data-open={false} data-card={card !== null}>
        <h2 className="visually-hidden">Train</h2>
        {card ? (
          <div className="models-side col gap-4 low scrolls">
            <div className="line model-named">
              <b className="cut">{card.title}</b>
              <SmallModelPicker />
            </div>
            <OpeningMessages />
            <TrainingPanel card={card} />
            {hasRun && <TraineePanel />}
          </div>
        ) : (
          <div className="models-welcome">
            <TraineePanel />
            <ModelPicker>
              <OpeningMessages />
            </ModelPicker>
            <Catalogue />
          </div>
        )}
      </main>
      <StatusLine />
    </>
  );
}

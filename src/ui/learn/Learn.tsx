import { lazy, Suspense, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import { differences, useConfig } from '../knobs/configStore.ts';
import { Dock } from '../curves/Dock.tsx';
import { EnvPanel } from '../rollout/EnvPanel.tsx';
import { GroupStrip } from '../rollout/GroupStrip.tsx';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { Inspector } from '../rollout/Inspector.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { Trajectory } from '../rollout/Trajectory.tsx';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/learn.css';
import { takeBack } from './actions.ts';
import { CHAPTERS, type Chapter } from './chapters.ts';

const RunBanner = lazy(() => import('../lab/RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** Nine chapters beside the lab, each with something to do in it. */
export function Learn() {
  const [at, setAt] = useState(0);
  const chapter = CHAPTERS[at] ?? CHAPTERS[0];
  return (
    <>
      <Header />
      <main className="learn pane" data-pane="watch">
        <div className="row between">
          <h2>Learn</h2>
          <button type="button" className="quiet" onClick={() => useSelection.setState({ touring: true })}>
            Take the tour
          </button>
        </div>
        <nav aria-label="Chapters">
          <ol className="chapters">
            {CHAPTERS.map(({ id, title }, i) => (
              <li key={id}>
                <button type="button" aria-current={i === at ? 'step' : undefined} onClick={() => setAt(i)}>
                  {title}
                </button>
              </li>
            ))}
          </ol>
        </nav>
        {chapter && (
          <Page key={chapter.id} chapter={chapter} next={at + 1 < CHAPTERS.length ? () => setAt(at + 1) : null} />
        )}
      </main>
      <section className="stage pane learn-stage" data-pane="watch" aria-label="Lab">
        <Suspense>
          <RunBanner>{null}</RunBanner>
        </Suspense>
        <GroupStrip />
        <div className="stage-row">
          <EnvPanel />
          <Trajectory />
        </div>
      </section>
      <Inspector />
      <Dock />
      <StatusLine />
    </>
  );
}

interface PageProps {
  readonly chapter: Chapter;
  readonly next: (() => void) | null; // to the next chapter; null on the last
}

function Page({ chapter, next }: PageProps) {
  const { title, text, formulas, source, task, act, look } = chapter;
  const [before, setBefore] = useState<RunConfig | null>(null); // knobs when the button was first pressed
  const wanted = useConfig((s) => s.wanted);
  const changed = before ? differences(before, wanted).length : 0;
  const doIt = () => {
    setBefore((known) => known ?? wanted);
    act();
  };
  return (
    <article className="stack large chapter" aria-labelledby="chapter-title" data-testid="chapter">
      <h3 id="chapter-title">{title}</h3>
      {text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {formulas.map((formula) => (
        <p key={formula} className="quote mono chapter-formula">
          {formula}
        </p>
      ))}
      <p className="small faint">{source}</p>
      <div className="row chapter-actions">
        <button type="button" className="primary" onClick={doIt}>
          <Icon name="play" /> {task}
        </button>
        {changed > 0 && before && (
          <button
            type="button"
            onClick={() => {
              takeBack(before);
              setBefore(null);
            }}
          >
            Undo
          </button>
        )}
        {next && (
          <button type="button" className="quiet" onClick={next}>
            Next chapter
          </button>
        )}
      </div>
      {before && (
        <p className="note good chapter-look" role="status">
          {look}
        </p>
      )}
    </article>
  );
}

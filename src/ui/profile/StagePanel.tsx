import { Fragment } from 'react';
import { STAGES, type Stage } from '../../domain/profile.ts';
import { percent, short } from '../parts/numberText.ts';
import { useLive } from '../run/liveStore.ts';
import { keptTimes, type MeanTimes, spanInWords } from './profileStore.ts';

const DESCRIPTIONS: Readonly<Record<Stage, string>> = {
  sampling: 'rollouts: drawing tokens, tools and environment',
  scoring: 'log-probabilities, entropies and values of the whole batch',
  crediting: 'masks, advantages and returns',
  updating: 'forward, backward and AdamW of every minibatch',
  reporting: 'reading numbers back',
  evaluating: 'evaluation, when it is due',
  other: 'preparing numbers and views for the page, keeping weights for inspection, timing kernels',
};
const SHOWN_UPDATES = 60;

/** The time of each stage of an update: the mean as a bar and a table, single updates as columns. */
export function StagePanel({ mean }: { readonly mean: MeanTimes }) {
  const gpu = useLive((s) => s.backend?.kind === 'gpu');
  const shown = STAGES.filter((stage) => mean.stages.has(stage));
  const ms = msOf(mean);
  const sum = shown.reduce((all, stage) => all + ms(stage), 0);
  const clock = gpu
    ? mean.fenced
      ? 'CPU clock, each stage waits for the GPU'
      : 'CPU clock, stages do not wait'
    : 'CPU';
  return (
    <section className="panel profile-stages" aria-labelledby="stages-title" data-testid="stages">
      <div className="panel-head">
        <h2 id="stages-title">An update</h2>
        <span className="chip" data-testid="stage-clock">
          {clock}
        </span>
        <span className="faint">
          {spanInWords(mean)}: {short(mean.ms)} ms
        </span>
      </div>
      <div
        className="stage-bar"
        role="img"
        aria-label={`Of ${short(mean.ms)} ms: ${shown.map((s) => `${s} ${percent(ms(s) / sum)}`).join(', ')}`}
      >
        {shown.map((stage) => (
          <span
            key={stage}
            data-stage={stage}
            style={{ flexGrow: ms(stage) }}
            title={`${stage} ${short(ms(stage))} ms`}
          />
        ))}
      </div>
      <Columns />
      <StageTable {...{ mean, shown, sum }} />
    </section>
  );
}

/** A function that returns the mean time of a stage, in ms. */
function msOf(mean: MeanTimes): (stage: Stage) => number {
  return (stage) => mean.stages.get(stage) ?? 0;
}

interface TableProps {
  readonly mean: MeanTimes;
  readonly shown: readonly Stage[];
  readonly sum: number; // ms of all shown stages
}

function StageTable({ mean, shown, sum }: TableProps) {
  const ms = msOf(mean);
  return (
    <table className="ruled profile-table">
      <thead>
        <tr>
          <th scope="col">Stage</th>
          <th scope="col" className="number">
            ms
          </th>
          <th scope="col" className="number">
            share
          </th>
          <th scope="col" className="wide-only">
            description
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((stage) => (
          <Fragment key={stage}>
            <tr data-ms={ms(stage)}>
              <th scope="row">
                <i className="stage-key" data-stage={stage} /> {stage}
              </th>
              <td className="number">{short(ms(stage))}</td>
              <td className="number">{percent(ms(stage) / sum)}</td>
              <td className="faint wide-only">{DESCRIPTIONS[stage]}</td>
            </tr>
            {stage === 'sampling' && (
              <tr className="stage-part" data-testid="environment-time" data-ms={mean.environment}>
                <th scope="row">environment</th>
                <td className="number">{short(mean.environment)}</td>
                <td className="number">{percent(mean.environment / sum)}</td>
                <td className="faint wide-only">part of sampling: beginning episodes and answering turns</td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
      <tfoot>
        <tr data-sum={sum} data-whole={mean.ms}>
          <th scope="row">Sum</th>
          <td className="number">{short(sum)}</td>
          <td className="number">{percent(sum / mean.ms)}</td>
          <td className="faint wide-only">of {short(mean.ms)} ms from end to end</td>
        </tr>
      </tfoot>
    </table>
  );
}

/** The newest updates side by side, as columns whose heights are their times. */
function Columns() {
  const times = keptTimes().slice(-SHOWN_UPDATES);
  const most = Math.max(...times.map(({ ms }) => ms));
  return (
    <div className="stage-columns" aria-hidden="true">
      {times.map(({ update, ms, spans }) => (
        <div key={update} style={{ height: `${(100 * ms) / most}%` }} title={`update ${update}: ${short(ms)} ms`}>
          {spans.map((span) => (
            <span key={span.start} data-stage={span.stage} style={{ flexGrow: span.ms }} />
          ))}
        </div>
      ))}
    </div>
  );
}

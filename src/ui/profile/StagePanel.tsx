import { Fragment } from 'react';
import { STAGES, type Stage } from '../../domain/profile.ts';
import { percent, shortNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { recentTimes, type MeanTimes, updatesInWords } from '../../page/view/profileStore.ts';

const STAGE_DESCRIPTIONS: Readonly<Record<Stage, string>> = {
  sampling: 'rollouts: drawing tokens, tools and environment',
  scoring: 'log-probabilities, entropies and values of the whole batch',
  crediting: 'masks, advantages and returns',
  updating: 'forward, backward and AdamW of every minibatch',
  reporting: 'reading numbers back',
  evaluating: 'evaluation, when it is due',
  other: 'preparing numbers and views for the page, keeping weights for inspection, timing kernels',
};
const SHOWN_UPDATES = 60;

export function StagePanel({ mean }: { readonly mean: MeanTimes }) {
  const gpu = useLive((s) => s.backend?.kind === 'gpu');
  const shownStages = STAGES.filter((stage) => mean.stages.has(stage));
  const ms = msOf(mean);
  const totalMs = shownStages.reduce((all, stage) => all + ms(stage), 0);
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
          {updatesInWords(mean)}: {shortNumber(mean.ms)} ms
        </span>
      </div>
      <div
        className="stage-bar"
        role="img"
        aria-label={`Of ${shortNumber(mean.ms)} ms: ${shownStages.map((s) => `${s} ${percent(ms(s) / totalMs)}`).join(', ')}`}
      >
        {shownStages.map((stage) => (
          <span
            key={stage}
            data-stage={stage}
            style={{ flexGrow: ms(stage) }}
            title={`${stage} ${shortNumber(ms(stage))} ms`}
          />
        ))}
      </div>
      <UpdateColumns />
      <StageTable {...{ mean, shownStages, totalMs }} />
    </section>
  );
}

function msOf(mean: MeanTimes): (stage: Stage) => number {
  return (stage) => mean.stages.get(stage) ?? 0;
}

interface TableProps {
  readonly mean: MeanTimes;
  readonly shownStages: readonly Stage[];
  readonly totalMs: number; // ms of all shown stages
}

function StageTable({ mean, shownStages, totalMs }: TableProps) {
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
        {shownStages.map((stage) => (
          <Fragment key={stage}>
            <tr data-ms={ms(stage)}>
              <th scope="row">
                <i className="stage-key" data-stage={stage} /> {stage}
              </th>
              <td className="number">{shortNumber(ms(stage))}</td>
              <td className="number">{percent(ms(stage) / totalMs)}</td>
              <td className="faint wide-only">{STAGE_DESCRIPTIONS[stage]}</td>
            </tr>
            {stage === 'sampling' && (
              <tr className="stage-part" data-testid="environment-time" data-ms={mean.environmentMs}>
                <th scope="row">environment</th>
                <td className="number">{shortNumber(mean.environmentMs)}</td>
                <td className="number">{percent(mean.environmentMs / totalMs)}</td>
                <td className="faint wide-only">part of sampling: beginning episodes and answering turns</td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
      <tfoot>
        <tr data-sum={totalMs} data-whole={mean.ms}>
          <th scope="row">Sum</th>
          <td className="number">{shortNumber(totalMs)}</td>
          <td className="number">{percent(totalMs / mean.ms)}</td>
          <td className="faint wide-only">of {shortNumber(mean.ms)} ms from end to end</td>
        </tr>
      </tfoot>
    </table>
  );
}

function UpdateColumns() {
  const times = recentTimes().slice(-SHOWN_UPDATES);
  const maxMs = Math.max(...times.map(({ ms }) => ms));
  return (
    <div className="stage-columns flex gap-1" aria-hidden="true">
      {times.map(({ update, ms, spans }) => (
        <div
          key={update}
          style={{ height: `${(100 * ms) / maxMs}%` }}
          title={`update ${update}: ${shortNumber(ms)} ms`}
        >
          {spans.map((span) => (
            <span key={span.start} data-stage={span.stage} style={{ flexGrow: span.ms }} />
          ))}
        </div>
      ))}
    </div>
  );
}

import { useState } from 'react';
import { ILLNESSES } from '../../metricLogs/illnesses.ts';
import type { Diagnosis, Finding } from '../../metricLogs/diagnosis.ts';
import { falseAlarmText, findingTitle, logText, nothingFoundText } from '../../metricLogs/diagnosisText.ts';
import { METRICS } from '../../domain/metrics.ts';
import type { ListedRun } from '../../page/runs/keptRun.ts';
import { useRuns } from '../../page/runs/runStore.ts';

/** What the doctor found in the log of a run. A press on a finding draws its curve, with a mark where it began. */
export function RunFindings({
  run: { foreign },
  diagnosis,
}: {
  readonly run: ListedRun;
  readonly diagnosis: Diagnosis;
}) {
  const { findings, notJudged, notes, log } = diagnosis;
  const isReloaded = foreign === undefined && log !== null && log.others.length > 0;
  const [ill, signs] = [findings.filter(({ state }) => state !== 'ok'), findings.filter(({ state }) => state === 'ok')];
  return (
    <section className="run-findings" aria-labelledby="run-findings">
      <h3 id="run-findings">Findings</h3>
      <p className="small faint">{logText(diagnosis)}</p>
      {ill.length === 0 ? <p>{nothingFoundText(diagnosis)}</p> : <FindingList findings={ill} />}
      {signs.length > 0 && (
        <details>
          <summary>Signs that a run shows too if it has learned all it can: {signs.length}</summary>
          <FindingList findings={signs} />
        </details>
      )}
      <details>
        <summary>Not judged, and how to read it</summary>
        <ul className="small">
          {[...notJudged, ...notes].map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {isReloaded && (
            <li>The log had {log.others.length} more curves, which aren’t kept. Open it again to see them.</li>
          )}
        </ul>
      </details>
    </section>
  );
}

/** A button for each finding; below them what is known of the chosen one, at first of the worst. */
function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  const [chosen, choose] = useState(findings[0]);
  return (
    <div className="run-found">
      <div className="row">
        {findings.map((finding) => (
          <button
            key={finding.illness}
            type="button"
            className="small"
            data-state={finding.state}
            aria-pressed={finding === chosen}
            title={`Draws “${METRICS[finding.metric].label}”`}
            onClick={() => {
              choose(finding);
              useRuns.setState({ metric: finding.metric });
            }}
          >
            {findingTitle(finding)}
          </button>
        ))}
      </div>
      {chosen && <FindingText finding={chosen} />}
    </div>
  );
}

function FindingText({ finding: { evidence, illness } }: { readonly finding: Finding }) {
  const { tries, href, falseAlarms } = ILLNESSES[illness];
  return (
    <>
      <p>{evidence}</p>
      <p className="small soft">
        People try: {tries.join(' ')} {href !== null && <a href={href}>Reproduce it here, and see what helps</a>}
        {` ${falseAlarmText(falseAlarms)}`}
      </p>
    </>
  );
}

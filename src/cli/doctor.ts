import path from 'node:path';
import { readFlags } from '../../tools/flags.mjs';
import { visible } from '../base/visible.ts';
import { ConfigError } from '../config/configProblem.ts';
import { METRICS } from '../domain/metrics.ts';
import { ILLNESSES } from '../metricLogs/illnesses.ts';
import type { Diagnosis, Finding } from '../metricLogs/diagnosis.ts';
import { falseAlarmText, findingTitle, logText, nothingFoundText } from '../metricLogs/diagnosisText.ts';
import { readMetricFile } from '../metricLogs/readMetricFile.ts';
import { callerPath, readWhole } from './files.ts';
import { program } from './program.ts';

const USAGE = `npm run doctor -- FILE [--json]

Reads the log of a training run and names what its curves show: what, since when, and what people try.
FILE: trainer_state.json, JSON Lines or a console log of TRL or verl, CSV of wandb or trackio, an event file of
TensorBoard, or a log of this project. --json: everything as one JSON object, with the curves.`;
const MAX_BYTES = 256 * 2 ** 20;
const MAX_LISTED = 12; // names of other metrics

/** `npm run doctor -- FILE`: prints the doctor's findings about a log. */
async function main(args: readonly string[]): Promise<number> {
  const { given, positionals, problems } = readFlags(args, { json: 'switch' });
  const [name, ...more] = positionals;
  const wrong = [...problems, ...(name === undefined || more.length > 0 ? [{ what: 'Name one file.' }] : [])];
  if (name === undefined || wrong.length > 0) throw new ConfigError(wrong, { usage: USAGE });
  const bytes = await readWhole(callerPath(name), MAX_BYTES);
  const runFile = { path: path.basename(name), file: new Blob([bytes]), written: new Date(0).toISOString() };
  const { run, diagnosis } = await readMetricFile({ ...runFile, manifest: null });
  if (given.json) {
    const curves: Record<string, object> = {};
    for (const [metric, { points }] of [...run.series, ...(run.foreign ?? [])])
      curves[metric] = { steps: [...points.x], values: [...points.y] };
    console.log(JSON.stringify({ name: run.name, ...diagnosis, curves }));
    return 0;
  }
  for (const line of reportLines(run.name, diagnosis)) console.log(line);
  return 0;
}

function reportLines(name: string, diagnosis: Diagnosis): readonly string[] {
  const { findings, notJudged, notes, log } = diagnosis;
  const [ill, signs] = [findings.filter(({ state }) => state !== 'ok'), findings.filter(({ state }) => state === 'ok')];
  const others = (log?.others ?? []).map((each) => visible(each, 60));
  return [
    `${name}: ${logText(diagnosis)}`,
    ...(ill.length === 0 ? ['', nothingFoundText(diagnosis)] : section('Found', ill.flatMap(findingLines))),
    ...section('Signs, which a run that has learned all it can shows too', signs.flatMap(findingLines)),
    ...section('Not judged', notJudged),
    ...section('How to read it', notes),
    ...section(
      'Read',
      (log?.read ?? []).map((each) => `${visible(each.name, 60)} as “${METRICS[each.metric].label}”`),
    ),
    ...section('Also in the log', others.length === 0 ? [] : [`${others.slice(0, MAX_LISTED).join(', ')}${others.length > MAX_LISTED ? ` and ${others.length - MAX_LISTED} more` : ''}`]), // prettier-ignore
  ];
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

function findingLines(finding: Finding): readonly string[] {
  const { tries, href, falseAlarms } = ILLNESSES[finding.illness];
  return [
    findingTitle(finding),
    `  ${finding.evidence}`,
    ...(finding.state === 'ok' ? [] : [`  People try: ${tries.join(' ')}`]),
    ...(href === null ? [] : [`  In the page: ${href}`]),
    `  ${falseAlarmText(falseAlarms)}`,
  ];
}

await program('doctor', USAGE, main);

import { EVALUATED_WORDS, evaluatedIn } from '../domain/evaluated.ts';
import { BASELINES } from '../domain/baselines.ts';
import type { RunConfig } from '../config/config.ts';
import { warnings } from '../config/contradictions.ts';
import { said } from '../config/problem.ts';
import type { Metrics } from '../domain/metrics.ts';
import { openSession, type Session } from '../session/session.ts';
import { parseArguments, type TrainArguments, USAGE } from './arguments.ts';
import { continuedRun } from './continued.ts';
import { nodeHost } from './host.ts';
import { program } from './program.ts';
import { progress } from './progress.ts';
import { readFacts } from './readFacts.ts';

/** `npm run train`: the loop of the page in Node. */
async function main(args: readonly string[]): Promise<number> {
  const asked = parseArguments(args);
  for (const warning of warnings(asked.config)) console.error(said(warning));
  const { json } = asked;
  const facts = asked.facts === null ? null : await readFacts(asked.facts);
  const host = await nodeHost(asked.config.backend !== 'cpu');
  const from = asked.from === null ? null : await continuedRun(asked.from, { ...asked, facts }, host);
  const { config } = from ?? asked;
  const show = progress(process.stderr, json);
  const session = await openSession(
    config,
    host,
    (event) => {
      if (event.type === 'phase') show.phase(event);
      if (event.type === 'ready') show.ready(event.backend);
      if (event.type === 'error') show.problem(event.message, event.hint);
    },
    from?.facts ?? facts,
    from?.checkpoint,
  );
  try {
    return await trainToEnd(session, { config, json }, show);
  } finally {
    session.dispose();
  }
}

/** Pulls events until the run is finished, then says how it began and ended; 1 when it had to stop early. */
async function trainToEnd(
  session: Session,
  { config, json }: Pick<TrainArguments, 'config' | 'json'>,
  show: ReturnType<typeof progress>,
): Promise<number> {
  const began = performance.now();
  let before: Metrics = {};
  let after: Metrics = {};
  let updates = 0;
  for await (const event of session.events) {
    if (event.type === 'error') {
      show.problem(event.message, event.hint);
      return 1;
    }
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'phase') show.phase(event);
    if (event.type !== 'metrics') continue;
    updates = event.update;
    const evaluated = evaluationOnly(event.values);
    if (updates === 0) before = evaluated;
    else {
      if ('eval/success' in evaluated) after = evaluated;
      if (json) console.log(JSON.stringify({ kind: 'update', update: updates, ...event.values }));
      show.update(updates, config.updates, event.values);
    }
  }
  const seconds = Number(((performance.now() - began) / 1000).toFixed(3));
  const hash = await session.parametersHash();
  show.end();
  const summary = { before, after, updates, seconds, parameters_hash: hash };
  // people read the sentence, programs the last line of standard output
  if (!json) console.error(sentence(config, summary));
  console.log(JSON.stringify({ kind: 'summary', ...summary }));
  return 0;
}

function evaluationOnly(values: Metrics): Metrics {
  return Object.fromEntries(Object.entries(values).filter(([name]) => /^(?:eval|baseline)\//.test(name)));
}

function sentence(
  config: RunConfig,
  s: { before: Metrics; after: Metrics; updates: number; seconds: number; parameters_hash: string },
): string {
  const success = EVALUATED_WORDS[evaluatedIn(config)].success.toLowerCase();
  const percent = (x: number | undefined) => (x === undefined ? '–' : `${(100 * x).toFixed(1)} %`);
  const baselines = BASELINES.flatMap(({ label, metric }) => {
    const share = s.before[metric];
    return share === undefined ? [] : [`${label} ${percent(share)}`];
  });
  return [
    `${config.env}, seed ${config.seed}: ${s.updates} updates in ${s.seconds.toFixed(1)} s`,
    `${success}, greedy, ${s.after['eval/tasks'] ?? s.before['eval/tasks'] ?? 0} tasks: ${percent(s.before['eval/success'])} → ${percent(s.after['eval/success'])}`,
    `${success}, sampled: ${percent(s.before['eval/success_sampled'])} → ${percent(s.after['eval/success_sampled'])}`,
    `on the same tasks: ${baselines.join(', ')}`,
    `parameters ${s.parameters_hash}`,
  ].join('\n');
}

await program('train', USAGE, main);

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { shareInterval } from '../../src/base/inference.ts';
import { program } from '../../src/cli/program.ts';
import type { Evidence } from '../../src/domain/health.ts';
import type { MetricName, Metrics } from '../../src/domain/metrics.ts';
import { diagnose } from '../../src/metricLogs/diagnosis.ts';
import { type IllnessName, ILLNESSES } from '../../src/metricLogs/illnesses.ts';
import { createMonitor } from '../../src/rl/monitor.ts';
import { byUpdate } from '../../src/runs/byUpdate.ts';
import { readLog } from '../../src/runs/log.ts';
import type { Run } from '../../src/runs/run.ts';

/** What became of a run, by evaluations alone, which the monitor does not read. */
type Course = 'learned' | 'fell' | 'hollow' | 'still';
const COURSES: Readonly<Record<Course, string>> = {
  learned: 'learned: a fifth or more of what was left to gain in evaluation, and did not fall',
  fell: 'fell: lost half of its best evaluation, and .1 of all tasks or more',
  hollow: 'hollow: was paid more by a quarter of the reward spread or more, without having learned',
  still: 'still: none of these',
};
/** What the monitor can say. Each is looked for at every update, except that `end` is the state after the last. */
const SAID = ['trap', 'watch', 'reward', 'length'] as const;

interface Verdict {
  readonly name: string;
  readonly course: Course;
  readonly evaluated: readonly number[]; // success at the training temperature, oldest first
  readonly first: Readonly<Partial<Record<(typeof SAID)[number], number>>>; // first update at which it was said
  readonly found: readonly IllnessName[]; // by the doctor, at WATCH or above
}

/** Plays the curves of a run to a new monitor. */
function verdictOf(run: Run): Verdict {
  const monitor = createMonitor();
  const first: Partial<Record<(typeof SAID)[number], number>> = {};
  const curves = Array.from(run.series, ([name, { points }]) => [name, points] as const);
  for (const [update, values] of byUpdate(curves)) {
    if (update === 0) continue;
    const { state, evidence } = monitor.observe(update, Object.fromEntries(values) as Metrics, run.begun);
    const has = (sign: Evidence['sign']) => evidence.some((each) => each.sign === sign);
    const said = { trap: state === 'trap', watch: state === 'watch', reward: has('reward'), length: has('length') };
    for (const name of SAID) if (said[name]) first[name] ??= update;
  }
  const evaluated = valuesOf(run, 'eval/success_sampled');
  const findings = diagnose(run, null).findings.filter((each) => each.state !== 'ok');
  return { name: run.name, course: courseOf(run, evaluated), evaluated, first, found: findings.map(({ illness }) => illness) }; // prettier-ignore
}

function courseOf(run: Run, evaluated: readonly number[]): Course {
  const [before, after, best] = [evaluated[0]!, evaluated.at(-1)!, Math.max(...evaluated)];
  if (best - after >= Math.max(0.1, best / 2)) return 'fell';
  if (after - before >= 0.2 * (1 - before)) return 'learned';
  const paid = valuesOf(run, run.series.has('reward_model/score') ? 'reward_model/score' : 'critic/score/mean');
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const spread = Math.max(...valuesOf(run, 'rollout/in_group_reward_std'));
  return mean(paid.slice(-10)) - mean(paid.slice(0, 10)) >= spread / 4 ? 'hollow' : 'still';
}

const valuesOf = (run: Run, name: MetricName): number[] => [...run.series.get(name)!.points.y];

/**
 * `node scripts/cli.mjs monitorVerdicts FOLDER`: what the health monitor and the doctor say of the runs in a folder of logs, beside what
 * became of them. Prints a line of JSON for each run and a table. The runs need evaluations at the training temperature.
 */
async function main([folder = '']: readonly string[]): Promise<number> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).toSorted();
  const verdicts: Verdict[] = [];
  for (const file of files) {
    const text = await readFile(path.join(folder, file), 'utf8');
    verdicts.push(verdictOf(readLog(text, { name: file, written: '' })));
    console.log(JSON.stringify(verdicts.at(-1)));
  }
  console.log(`\n| course | runs | ${SAID.join(' | ')} |\n| --- | ---: | ${SAID.map(() => '---:').join(' | ')} |`);
  for (const course of Object.keys(COURSES) as Course[]) {
    const all = verdicts.filter((each) => each.course === course);
    const cells = SAID.map((said) => {
      const hits = all.filter(({ first }) => first[said] !== undefined).length;
      const { low, high } = shareInterval(hits, all.length);
      return all.length === 0 ? '–' : `${hits} [${Math.round(100 * low)}–${Math.round(100 * high)} %]`;
    });
    console.log(`| ${COURSES[course]} | ${all.length} | ${cells.join(' | ')} |`);
  }
  const courses = Object.keys(COURSES) as Course[];
  console.log(`\n| doctor | ${courses.join(' | ')} |\n| --- | ${courses.map(() => '---:').join(' | ')} |`);
  for (const illness of Object.keys(ILLNESSES) as IllnessName[]) {
    const cells = courses.map((course) => {
      const all = verdicts.filter((each) => each.course === course);
      return `${all.filter(({ found }) => found.includes(illness)).length} of ${all.length}`;
    });
    console.log(`| ${illness} | ${cells.join(' | ')} |`);
  }
  return 0;
}

await program('monitorVerdicts', 'node scripts/cli.mjs monitorVerdicts FOLDER', main);

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIELDS, parseConfig } from '../src/config/config.ts';
import { ENVIRONMENTS, YOUR_ENVIRONMENT } from '../src/config/environments.ts';
import { createEnv } from '../src/envs/index.ts';
import { evaluationSetOf, evaluationWords, metricWords } from '../src/domain/evaluationSet.ts';
import { EXPERIMENTS } from '../src/experiments/experimentList.ts';
import { METRICS, type MetricName } from '../src/domain/metrics.ts';
import { factsFor } from './envs/factFiles.ts';

describe('what an evaluation plays', () => {
  it.each(FIELDS.env.choices)('in %s is called held out iff the environment holds tasks out', (name) => {
    const config = parseConfig({ env: name });
    const env = createEnv(config, factsFor(name));
    expect(evaluationSetOf({ env: name })).toBe(env.splits.heldOut ? 'held-out' : 'all');
    expect(env.splits.heldOut === null).toBe(env.taskCount !== undefined);
    expect(ENVIRONMENTS[name].countIfAllPlayed?.(config)).toBe(env.taskCount);
  });

  it('is named so by every metric, and by neither name where runs of both kinds stand together', () => {
    for (const metric of Object.keys(METRICS) as MetricName[]) {
      if (metric.startsWith('reward_model/')) continue; // pairs of rollouts are held out there
      const { label, doc } = metricWords(metric, { env: 'number-hunt' });
      if (metric !== 'eval/success_entities') expect(`${label} ${doc}`).not.toMatch(/held.?out/i);
      const mixed = metricWords(metric, { env: 'number-hunt' }, { env: 'multi-hop' });
      if (metric.startsWith('eval/success') && !/entities|shifted/.test(metric)) {
        expect(mixed.label).toMatch(/^Success on evaluated tasks/);
        expect(label).toMatch(/^Success on all tasks/);
        expect(metricWords(metric, { env: 'countdown' }).label).toMatch(/^Held-out success/);
      }
    }
  });

  it('of a person’s class is called held out nowhere: its test tasks may occur in training', () => {
    const own = { env: YOUR_ENVIRONMENT } as const;
    expect(evaluationWords(50, evaluationSetOf(own), false)).toBe('50 test tasks');
    const { label, doc } = metricWords('eval/success', own);
    expect(label).toBe('Success on test tasks');
    expect(doc).toMatch(/how many of them also occur in training/);
    expect(evaluationSetOf(own, { env: 'multi-hop' })).toBe('mixed');
    expect(evaluationSetOf(own, own)).toBe('test');
  });

  it('is called held out in no experiment whose arms play an environment without', () => {
    for (const { columns, arms, shared } of Object.values(EXPERIMENTS)) {
      const envs = arms.map((arm) => ({ env: parseConfig({ ...shared, ...('set' in arm ? arm.set : {}) }).env }));
      const says = columns.some(({ label }) => /held-out/i.test(label));
      if (says) expect(evaluationSetOf(...envs)).toBe('held-out');
    }
  });

  it('has its words in one place: the page and the command line name it in no text of their own', () => {
    const files = ['src/page', 'src/ui', 'src/cli'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name) && name !== 'documents.ts')
        .map((name) => `${folder}/${name}`),
    );
    const own = files.filter((file) => /[hH]eld-out (?:tasks|success)/.test(readFileSync(file, 'utf8')));
    expect(own).toEqual([]);
  });
});

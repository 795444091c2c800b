import type { Metrics } from '../domain/metrics.ts';
import { Role } from '../domain/tokens.ts';
import type { EpisodeRecord } from './episodeRecord.ts';

/**
 * `rollout/repeated_actions` is the share of turns that repeat an earlier turn of the same rollout word for word.
 * `rollout/echo_share` is the share of a prompt's rollouts that took the most common sequence of actions, as the mean
 * over prompts with more than one rollout. `groups` (B).
 */
export function repetitionMetrics(record: EpisodeRecord, groups: Int32Array): Metrics {
  let turns = 0;
  let repeated = 0;
  const byGroup = new Map<number, string[]>();
  for (let row = 0; row < record.rows; row++) {
    const texts = turnTexts(record, row);
    if (texts.length === 0) continue;
    turns += texts.length;
    repeated += texts.length - new Set(texts).size;
    const group = groups[row] ?? 0;
    byGroup.set(group, [...(byGroup.get(group) ?? []), texts.join(' | ')]);
  }
  const shares = [...byGroup.values()].filter((all) => all.length > 1).map(mostCommonShare);
  return {
    ...(turns > 0 ? { 'rollout/repeated_actions': repeated / turns } : {}),
    ...(shares.length > 0 ? { 'rollout/echo_share': shares.reduce((a, b) => a + b, 0) / shares.length } : {}),
  };
}

function turnTexts(record: EpisodeRecord, row: number): string[] {
  const texts = new Map<number, string>();
  for (let at = row * record.length; at < row * record.length + record.lengths[row]!; at++) {
    if (record.roles[at] !== Role.action) continue;
    const turn = record.turns[at]!;
    texts.set(turn, `${texts.get(turn) ?? ''} ${record.tokens[at]}`);
  }
  return [...texts.values()];
}

function mostCommonShare(all: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return Math.max(...counts.values()) / all.length;
}

import type { KeptBatch } from '../domain/batch.ts';
import { Role } from '../domain/tokens.ts';
import { type BatchRow, rowsOf } from './batchRow.ts';
import { OWN_INFO } from './ownWords.ts';

export interface TracedRun {
  readonly id: string;
  readonly name: string;
  readonly started: string; // ISO 8601
}

/**
 * A kept batch as lines of verifiers' `traces.jsonl`, one Episode per line (verifiers/v1/episode.py and graph.py of
 * 0.4.0). Each message is a node with the token ids it adds; `mask` is true at the tokens that the policy drew. The
 * lists of log-probabilities (sampler, reference and learner), advantages and entropies cover only the drawn tokens.
 * `loss_weights.rl` is the loss mask, with an entry for each token. `loss_weights.ce`, as in prime-rl's ECHO, is the weight
 * λ of the tokens in the observation loss; a message without any has no such list. The policy version is the number of the
 * update after which the weights that drew the batch were current: n − 1 for update n without staleness.
 */
export function traceLines(keptBatch: KeptBatch, vocabulary: readonly string[], run: TracedRun): string[] {
  return rowsOf(keptBatch, vocabulary).map((row) => `${JSON.stringify(episodeOf(row, run))}\n`);
}

function episodeOf(row: BatchRow, run: TracedRun) {
  const { episode, config, update, drawnAfter } = row;
  const task = {
    type: 'Task',
    data: {
      idx: episode.seed,
      name: config.env,
      prompt: episode.question,
      seed: episode.seed,
      environment_seed: episode.environmentSeed,
    },
    key: `${config.env}-${episode.seed}`,
  };
  const parts = Object.entries(episode.parts).filter(([, amount]) => amount !== 0);
  const rewards = parts.length > 0 ? parts : [['outcome', 0] as const];
  const startSeconds = Date.parse(run.started) / 1000;
  return {
    id: `${run.id}-${row.id}`,
    env: { id: config.env, name: config.env },
    task,
    group: { id: row.group },
    run: {
      type: 'train',
      id: run.id,
      name: run.name,
      work: { type: 'train', step: update, policy: { start: drawnAfter, end: drawnAfter } },
    },
    ok: true,
    traces: [
      {
        version: 1,
        id: `${run.id}-${row.id}`,
        task,
        agent: { config: { max_turns: config.maxTurns }, name: 'agent', trainable: true },
        nodes: nodesOf(row, startSeconds),
        rewards: Object.fromEntries(rewards.map(([name, score]) => [name, { score, weight: 1 }])),
        metrics: metricsOf(row),
        info: { [OWN_INFO]: { words: wordById(row), stop: episode.stop } },
        ...{ is_completed: true, ok: true, stop_condition: STOP_CONDITIONS[episode.stop] ?? episode.stop },
        timing: { start: startSeconds },
      },
    ],
  };
}

/** verifiers' names of the limits that end a rollout. It counts such rollouts as truncated. */
const STOP_CONDITIONS: Readonly<Partial<Record<string, string>>> = { turns: 'max_turns', tokens: 'max_total_tokens' };

function metricsOf({ episode, learnedFrom }: BatchRow) {
  return {
    ...{ success: Number(episode.success), turns: episode.turns, tool_calls: episode.toolCalls },
    ...{ invalid_turns: episode.invalidTurns, waited: episode.waited, learned_from: Number(learnedFrom) },
  };
}

function wordById({ ids, words }: BatchRow): Readonly<Record<string, string>> {
  return Object.fromEntries(ids.map((id, t) => [String(id), words[t] ?? '']));
}

/**
 * A message for each run of tokens with one role and turn, after its parent. A `tool` message answers the call of the
 * same turn. What a training row shows again is left out: the trace has each message once.
 */
function nodesOf(row: BatchRow, timestamp: number) {
  const roles = row.list('roles') ?? [];
  const turns = row.list('turns') ?? [];
  const sampledLists = {
    logprobs: row.list('sampledLogprobs'),
    advantages: row.list('advantages'),
    reference_logprobs: row.list('refLogprobs'),
    trainer_logprobs: row.list('logprobs'),
    entropies: row.list('entropies'),
  };
  const loss = row.list('lossMask') ?? [];
  const observations = row.list('observationMask') ?? [];
  const nodeStarts = roles.flatMap((role, t) =>
    t > 0 && role === roles[t - 1] && turns[t] === turns[t - 1] ? [] : [t],
  );
  const nodes = nodeStarts.flatMap((from, i) =>
    roles[from] === Role.prompt && turns[from] !== 0 ? [] : [{ from, to: nodeStarts[i + 1] ?? row.length }],
  );
  return nodes.map(({ from, to }, i) => {
    const isAction = roles[from] === Role.action;
    const lists = Object.entries(sampledLists).flatMap(([name, list]) =>
      list && isAction ? [[name, list.slice(from, to)] as const] : [],
    );
    const predicted = observations.slice(from, to).map((mask) => mask * row.config.observationLoss);
    return {
      ...(i > 0 && { parent: i - 1 }),
      message: messageOf(row.words.slice(from, to), roles[from], turns[from] ?? 0),
      sampled: isAction,
      timestamp,
      token_ids: row.ids.slice(from, to),
      mask: Array.from({ length: to - from }, () => isAction),
      ...Object.fromEntries(lists),
      loss_weights: { rl: loss.slice(from, to), ...(predicted.some((weight) => weight !== 0) && { ce: predicted }) },
    };
  });
}

function messageOf(words: readonly string[], role: number | undefined, turn: number) {
  const content = words.join(' ');
  if (role === Role.prompt) return { role: 'user', content };
  if (role !== Role.action) return { role: 'tool', tool_call_id: `turn-${turn}`, content };
  const [from, to] = [words.indexOf('<call>'), words.indexOf('</call>')];
  if (from < 0) return { role: 'assistant', content };
  const call = words.slice(from + 1, to < 0 ? undefined : to).join(' ');
  return { role: 'assistant', content, tool_calls: [{ id: `turn-${turn}`, name: 'call', arguments: call }] };
}

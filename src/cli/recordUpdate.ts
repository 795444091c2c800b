import type { BatchView, PlayedBatch } from '../domain/batch.ts';
import { Role } from '../domain/tokens.ts';
import { taskBatch } from '../runs/recording.ts';
import {
  RECORDED_SWITCHES,
  type RecordedDistribution,
  type RecordedPreview,
  type RecordedReadings,
  type RecordedSwitch,
  flippedKnobs,
} from '../runs/recordedReadings.ts';
import type { Session } from '../session/session.ts';
import type { Answer, Question } from '../wire/questions.ts';

/** Number of alternative words recorded at each place: those that the inspector shows, and a few more. */
const MAX_WORDS = 14;
/**
 * Limits of what is recorded of a batch: the number of places with their alternatives and the number of attentions, for
 * a run with a model of its `own` and for one `beside` a checkpoint. Short rollouts have all choices recorded. With
 * adapters for a checkpoint each place takes seconds, so there are fewer. An attention is one number for each head and
 * each token before; a checkpoint has hundreds of heads, so there is only one attention, in thousandths.
 */
const LIMITS = {
  own: { places: 120, attentions: Infinity, roundWeight: rounded },
  beside: { places: 16, attentions: 1, roundWeight: (x: number) => Math.round(1000 * x) / 1000 },
} as const;
/** Most tokens per batch with reasons and attention: each costs another backward pass over the batch. */
const MAX_WHYS = { words: 4, text: 2 } as const;
const FEW_DIGITS = 4;

/** Records the run's answers about one task of the batch. Call it after the update and before the next one. */
export async function recordUpdate(
  session: Session,
  batch: BatchView,
): Promise<{ readonly task: BatchView; readonly readings: RecordedReadings }> {
  const group = groupOfLargestSpread(batch);
  const task = taskBatch(batch, group);
  const rows = batch.episodes.filter((episode) => episode.group === group).map(({ row }) => row);
  const ask = <K extends Question['kind'] & Answer['kind']>(question: Extract<Question, { kind: K }>) =>
    answerOf(session, question);
  const { update } = batch;
  const limits = LIMITS[session.base ? 'beside' : 'own'];
  const all = await ask({ kind: 'logprobs', update, row: null });
  const rowsOf = (list: Float32Array | null) =>
    rows.flatMap((row) => [...requireList(list).subarray(row * batch.length, row * batch.length + task.length)]);
  const moved = { before: Float32Array.from(rowsOf(all.before)), after: Float32Array.from(rowsOf(all.after)) };
  const distributions: RecordedDistribution[] = [];
  for (const { row, position } of placesOfHighestEntropy(task, limits.places)) {
    const rolloutPlace = { update, row: rows[row] ?? 0 };
    const distribution = await ask({ kind: 'distribution', rollout: rolloutPlace, position });
    distributions.push({
      row,
      position,
      ...likeliest(requireList(distribution.before), requireList(distribution.after)),
    });
  }
  const [whys, attentions]: [RecordedReadings['whys'][number][], RecordedReadings['attentions'][number][]] = [[], []];
  for (const { row, position } of placesOfLargestChange(task, moved, session.config().language)) {
    const place = { update, row: rows[row] ?? 0, position };
    const { why } = await ask({ kind: 'why', ...place });
    if (why) whys.push({ row, position, why: whyOf(why, rows) });
    if (attentions.length === limits.attentions) continue;
    const { attention } = await ask({ kind: 'attention', ...place });
    if (attention)
      attentions.push({
        row,
        position,
        attention: { ...attention, weights: attention.weights.map(limits.roundWeight) },
      });
  }
  const { before, after } = await ask({ kind: 'rerun', update });
  if (!before || !after) throw new Error(`record: the weights around update ${update} are not kept.`);
  const switchPreviews = {} as Record<RecordedSwitch, RecordedPreview>;
  for (const flipped of RECORDED_SWITCHES) {
    const { preview } = await ask({ kind: 'preview', update, changes: flippedKnobs(flipped, session.config()) });
    if (!preview) throw new Error(`record: what update ${update} did is not kept.`);
    switchPreviews[flipped] = previewOf(taskBatch(preview.batch, group));
  }
  const rerun = { before: playedTask(before, rows), after: playedTask(after, rows) };
  return { task, readings: { moved, distributions, whys, attentions, rerun, switchPreviews } };
}

/** The task of a batch whose rollouts differ most in reward, so that there is something to compare. */
function groupOfLargestSpread(batch: BatchView): number {
  const groups = [...new Set(batch.episodes.map(({ group }) => group))];
  const spread = (group: number) => {
    const rewards = batch.episodes.filter((episode) => episode.group === group).map(({ reward }) => reward);
    return Math.max(...rewards) - Math.min(...rewards);
  };
  return groups.reduce((best, group) => (spread(group) > spread(best) ? group : best));
}

async function answerOf<K extends Question['kind'] & Answer['kind']>(
  session: Session,
  question: Extract<Question, { kind: K }>,
): Promise<Extract<Answer, { kind: K }>> {
  const answer = await session.answer({ ...question, anyway: true });
  if (answer.kind !== question.kind) throw new Error(`record: ${question.kind} was answered by ${answer.kind}.`);
  return answer as Extract<Answer, { kind: K }>;
}

function requireList(list: Float32Array | null): Float32Array {
  if (!list) throw new Error('record: the weights around a recorded update are not kept.');
  return list;
}

/** The agent's tokens with more than one legal choice, highest entropy first. */
function placesOfHighestEntropy(task: BatchView, max: number) {
  const open = places(task).filter(({ i }) => task.roles[i] === Role.action && task.singles[i] === 0);
  return open.sort((a, b) => (task.entropies[b.i] ?? 0) - (task.entropies[a.i] ?? 0)).slice(0, max);
}

/** If the same token has the same probabilities before and after at several places, only one place is listed. */
function placesOfLargestChange(
  task: BatchView,
  { before, after }: RecordedReadings['moved'],
  language: keyof typeof MAX_WHYS,
) {
  const change = (i: number) => Math.abs(Math.exp(after[i] ?? 0) - Math.exp(before[i] ?? 0));
  const changed = places(task).filter(({ i }) => task.roles[i] === Role.action && change(i) > 0);
  const seen = new Set<string>();
  return changed
    .sort((a, b) => change(b.i) - change(a.i))
    .filter(({ i }) => {
      const key = `${task.tokens[i]} ${before[i]} ${after[i]}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, MAX_WHYS[language]);
}

function places({ rows, length, lengths }: BatchView) {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: lengths[row] ?? 0 }, (__, position) => ({ row, position, i: row * length + position })),
  ).flat();
}

function likeliest(before: Float32Array, after: Float32Array) {
  const legal = [...after.keys()].filter((token) => Number.isFinite(after[token]));
  const size = (token: number) => Math.max(before[token] ?? -Infinity, after[token] ?? -Infinity);
  const tokens = [...legal].sort((a, b) => size(b) - size(a)).slice(0, MAX_WORDS);
  const roundedAt = (list: Float32Array) => tokens.map((token) => rounded(list[token] ?? 0));
  return { legal: legal.length, tokens, before: roundedAt(before), after: roundedAt(after) };
}

/** Reduces reasons to the rollouts of the task; the other rollouts of the batch become one sum. */
function whyOf(why: RecordedReadings['whys'][number]['why'], rows: readonly number[]) {
  const taskRollouts = Float64Array.from(rows, (row) => why.rollouts[row] ?? 0);
  const sum = (list: Float64Array) => list.reduce((total, part) => total + part, 0);
  return { ...why, rollouts: taskRollouts, elsewhere: sum(why.rollouts) - sum(taskRollouts) };
}

function previewOf(batch: BatchView) {
  const { advantages, returns, lossMask, advantageMask, observationMask, gradWeights, policyWeights } = batch;
  const arrays = { advantages, returns, lossMask, advantageMask, gradWeights, policyWeights };
  return { ...arrays, ...(observationMask && { observationMask }) };
}

function playedTask(played: PlayedBatch, rows: readonly number[]): PlayedBatch {
  const longest = Math.max(...rows.map((row) => played.lengths[row] ?? 0));
  const cut = (from: Int32Array | Uint8Array) =>
    rows.flatMap((row) => [...from.subarray(row * played.length, row * played.length + longest)]);
  return {
    ...{ rows: rows.length, length: longest },
    tokens: Int32Array.from(cut(played.tokens)),
    roles: Uint8Array.from(cut(played.roles)),
    turns: Uint8Array.from(cut(played.turns)),
    lengths: Int32Array.from(rows, (row) => played.lengths[row] ?? 0),
    episodes: rows.flatMap((row, i) =>
      played.episodes.filter((each) => each.row === row).map((each) => ({ ...each, row: i, group: 0 })),
    ),
  };
}

function rounded(x: number): number {
  return Number(x.toPrecision(FEW_DIGITS));
}

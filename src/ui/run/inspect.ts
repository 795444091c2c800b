import type { RunConfig } from '../../config/fields.ts';
import type { BatchView, RecordedRow } from '../../domain/batch.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { Role } from '../../domain/tokens.ts';
import type { Moved } from '../rollout/channels.ts';
import { live } from './liveStore.ts';
import { question } from './transport.ts';

/** A rollout that questions can be asked about: a row of a batch, and the knobs it was made under. */
export interface Source {
  readonly batch: BatchView;
  readonly row: number;
  readonly config: RunConfig;
}

/** What was answered, or why nothing was. */
export type Reply<K extends Answer['kind']> =
  | { readonly ok: true; readonly answer: Extract<Answer, { kind: K }> }
  | { readonly ok: false; readonly message: string };

const MOST_REPLIES = 400;
const replies = new Map<string, Promise<Reply<'distribution'>>>();

/** The distribution a token was drawn from, before and after the update that learned from it. Asked once, then remembered. */
export function distributionAt(source: Source, position: number): Promise<Reply<'distribution'>> {
  const { batch, row, config } = source;
  const i = row * batch.length + position;
  const newest = live.kept.updates.at(-1) ?? 0; // `now` moves with the run
  const key = `${identify(batch)} ${row} ${position} ${newest}`;
  const known = replies.get(key);
  if (known) return known;
  const asked = question({
    kind: 'distribution',
    config,
    row: recordedRow(source),
    position,
    state: batch.states[i] ?? 0,
    update: batch.update,
  }).then((answer) => reply(answer, 'distribution'));
  replies.set(key, asked);
  for (const old of replies.keys()) if (replies.size > MOST_REPLIES) replies.delete(old);
  return asked;
}

/** Narrows an answer to the kind that was asked for. */
export function reply<K extends Answer['kind']>(answer: Answer, kind: K): Reply<K> {
  if (isKind(answer, kind)) return { ok: true, answer };
  return { ok: false, message: answer.kind === 'refused' ? answer.message : `The run answered ${answer.kind}.` };
}

function isKind<K extends Answer['kind']>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}

const names = new WeakMap<BatchView, number>();
let named = 0;

/** A number for each batch: updates of two runs share theirs, batches do not. */
function identify(batch: BatchView): number {
  const known = names.get(batch);
  if (known !== undefined) return known;
  names.set(batch, ++named);
  return named;
}

/** The record of a row. */
export function recordedRow({ batch, row }: Source): RecordedRow {
  const [from, to] = [row * batch.length, (row + 1) * batch.length];
  return {
    tokens: batch.tokens.slice(from, to),
    roles: batch.roles.slice(from, to),
    states: batch.states.slice(from, to),
  };
}

/** The agent's own tokens before a position. */
export function actionsBefore({ batch, row }: Source, position: number): number[] {
  const actions: number[] = [];
  for (let t = 0; t < position; t++) {
    const i = row * batch.length + t;
    if (batch.roles[i] === Role.action) actions.push(batch.tokens[i] ?? 0);
  }
  return actions;
}

/** A token's word as the episode has it. */
export function wordOf({ batch, row }: Source, id: number): string {
  const own = batch.episodes.find((episode) => episode.row === row)?.names.get(id);
  return own ?? live.vocabulary[id] ?? `#${id}`;
}

/** A kept batch, and the knobs it was made under. */
export type BatchSource = Omit<Source, 'row'>;

/** Asks for the log-probabilities of all tokens of a batch. */
export function batchLogprobs({ batch, config }: BatchSource): Question {
  return { kind: 'logprobs', config, row: batchRecord(batch), update: batch.update };
}

/** The record alone: what is not needed does not travel. */
function batchRecord({ tokens, roles, states }: RecordedRow): RecordedRow {
  return { tokens, roles, states };
}

/** Log-probabilities of a row's tokens before and after its update; null where the weights are not kept any more. */
export async function movedTokens(source: Source): Promise<Moved | null> {
  const { batch, config } = source;
  const asked = await question({ kind: 'logprobs', config, row: recordedRow(source), update: batch.update });
  const got = reply(asked, 'logprobs');
  return got.ok && got.answer.before && got.answer.after
    ? { before: got.answer.before, after: got.answer.after }
    : null;
}

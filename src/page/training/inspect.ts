import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Cost } from '../../domain/readings.ts';
import type { Tensors } from '../../runs/checkpoint.ts';
import type { Answer, Question, RolloutAddress } from '../../wire/questions.ts';
import type { LogprobsAroundUpdate } from '../rollout/channels.ts';
import { useLive } from '../view/liveStore.ts';
import { question } from './transport.ts';

/** A rollout that questions can be asked about: a row of a batch, and the knobs it was made with. */
export interface RolloutSource {
  readonly batch: BatchView;
  readonly row: number;
  readonly config: RunConfig;
  readonly branch?: number; // id of the branch; absent for a rollout of an update
  readonly vocabulary?: readonly string[]; // of the batch; absent: the vocabulary of the batch in view
}

/** The reason why there is no answer. `cost` is set if the answer takes long and the question didn't say `anyway`. */
export interface NoAnswer {
  readonly ok: false;
  readonly message: string;
  readonly cost?: Cost;
}

export type Reply<K extends Answer['kind']> =
  | { readonly ok: true; readonly answer: Extract<Answer, { kind: K }> }
  | NoAnswer;

const MAX_REPLIES = 400; // that are remembered
const replies = new Map<string, Promise<Reply<'distribution'>>>();

/**
 * The distribution at a token before and after the update that learned from it; with `since`, at the start of the run
 * or by another run's weights, and now. The reply is kept, so each question is asked once.
 */
export function distributionAt(
  source: RolloutSource,
  position: number,
  anyway: boolean,
  since?: 'begun' | Tensors,
): Promise<Reply<'distribution'>> {
  // part of the key, because the current distribution changes with the run
  const newest = useLive.getState().batchesInWorker.updates.at(-1) ?? 0;
  const sinceId = typeof since === 'object' ? idOf(since) : (since ?? '');
  const key = `${idOf(source.batch)} ${source.row} ${position} ${newest} ${anyway} ${sinceId}`;
  const known = replies.get(key);
  if (known) return known;
  const rollout = addressOf(source);
  const pending = question({ kind: 'distribution', rollout, position, anyway, ...(since && { since }) }).then(
    (answer) => reply(answer, 'distribution'),
  );
  replies.set(key, pending);
  for (const old of replies.keys()) if (replies.size > MAX_REPLIES) replies.delete(old);
  return pending;
}

/** Narrows an answer to the kind that was asked for. */
export function reply<K extends Answer['kind']>(answer: Answer, kind: K): Reply<K> {
  if (isKind(answer, kind)) return { ok: true, answer };
  if (answer.kind === 'dear') return { ok: false, message: 'The answer takes a long time.', cost: answer.cost };
  return { ok: false, message: answer.kind === 'refused' ? answer.message : `The run answered ${answer.kind}.` };
}

function isKind<K extends Answer['kind']>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** A unique number for each batch and each set of weights. The update is not enough: two runs have the same update numbers. */
function idOf(thing: BatchView | Tensors): number {
  const known = ids.get(thing);
  if (known !== undefined) return known;
  ids.set(thing, ++lastId);
  return lastId;
}

export function addressOf({ batch, row, branch }: RolloutSource): RolloutAddress {
  return branch === undefined ? { update: batch.update, row } : { branch };
}

/** A token's word; a slot word is replaced by its name in the episode. */
export function wordOf({ batch, row, vocabulary = useLive.getState().vocabulary }: RolloutSource, id: number): string {
  const episodeName = batch.episodes.find((episode) => episode.row === row)?.names.get(id);
  return episodeName ?? vocabulary[id] ?? `#${id}`;
}

export type BatchSource = Omit<RolloutSource, 'row'>;

export function batchLogprobs({ batch, anyway }: BatchSource & { readonly anyway: boolean }): Question {
  return { kind: 'logprobs', update: batch.update, row: null, anyway };
}

/** Null if the weights are no longer kept. Computed at any cost, because a person chose to colour tokens by them. */
export async function rowLogprobs(source: RolloutSource): Promise<LogprobsAroundUpdate | null> {
  const answer = await question({ kind: 'logprobs', update: source.batch.update, row: source.row, anyway: true });
  const logprobs = reply(answer, 'logprobs');
  return logprobs.ok && logprobs.answer.before && logprobs.answer.after
    ? { before: logprobs.answer.before, after: logprobs.answer.after }
    : null;
}

import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Cost } from '../../domain/cost.ts';
import type { Answer, Question, RolloutAddress } from '../../wire/questions.ts';
import type { Moved } from '../rollout/channels.ts';
import { live } from './liveStore.ts';
import { question } from './transport.ts';

/** A rollout that questions can be asked about: a row of a batch, and the knobs it was made under. */
export interface Source {
  readonly batch: BatchView;
  readonly row: number;
  readonly config: RunConfig;
  readonly branch?: number; // it is this branch, not a rollout of an update
  readonly vocabulary?: readonly string[]; // of the batch; without it that of the batch in view
}

/** The reason why there is no answer. `cost` is set if it would take long and was not asked for `anyway`. */
export interface Missing {
  readonly ok: false;
  readonly message: string;
  readonly cost?: Cost;
}

/** The answer, or why there is none. */
export type Reply<K extends Answer['kind']> =
  { readonly ok: true; readonly answer: Extract<Answer, { kind: K }> } | Missing;

const MOST_REPLIES = 400;
const replies = new Map<string, Promise<Reply<'distribution'>>>();

/**
 * The distribution a token was drawn from, before and after the update that learned from it; with `since`, as the run began and as
 * it is. Asked once, then remembered.
 */
export function distributionAt(
  source: Source,
  position: number,
  anyway: boolean,
  since?: 'begun',
): Promise<Reply<'distribution'>> {
  const newest = live.kept.updates.at(-1) ?? 0; // `now` moves with the run
  const key = `${identify(source.batch)} ${source.row} ${position} ${newest} ${anyway} ${since ?? ''}`;
  const known = replies.get(key);
  if (known) return known;
  const of = addressOf(source);
  const asked = question({ kind: 'distribution', of, position, anyway, ...(since && { since }) }).then((answer) =>
    reply(answer, 'distribution'),
  );
  replies.set(key, asked);
  for (const old of replies.keys()) if (replies.size > MOST_REPLIES) replies.delete(old);
  return asked;
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

const names = new WeakMap<BatchView, number>();
let named = 0;

/** A number for each batch: updates of two runs share theirs, batches do not. */
function identify(batch: BatchView): number {
  const known = names.get(batch);
  if (known !== undefined) return known;
  names.set(batch, ++named);
  return named;
}

/** What the run knows a rollout by. */
export function addressOf({ batch, row, branch }: Source): RolloutAddress {
  return branch === undefined ? { update: batch.update, row } : { branch };
}

/** A token's word as the episode has it. */
export function wordOf({ batch, row, vocabulary = live.vocabulary }: Source, id: number): string {
  const own = batch.episodes.find((episode) => episode.row === row)?.names.get(id);
  return own ?? vocabulary[id] ?? `#${id}`;
}

/** A kept batch, and the knobs it was made under. */
export type BatchSource = Omit<Source, 'row'>;

/** Asks for the log-probabilities of all tokens of a batch. */
export function batchLogprobs({ batch, anyway }: BatchSource & { readonly anyway: boolean }): Question {
  return { kind: 'logprobs', update: batch.update, row: null, anyway };
}

/** Log-probabilities of a row's tokens before and after its update; null if the weights are no longer kept. It is always computed, whatever it costs, because a person chose to colour tokens by it. */
export async function movedTokens(source: Source): Promise<Moved | null> {
  const asked = await question({ kind: 'logprobs', update: source.batch.update, row: source.row, anyway: true });
  const got = reply(asked, 'logprobs');
  return got.ok && got.answer.before && got.answer.after
    ? { before: got.answer.before, after: got.answer.after }
    : null;
}

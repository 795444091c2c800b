import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, has, idsOrNull, numberOrNull, numbersOrNull, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat } from './rolloutFormat.ts';
import { recordWithDefaults, type RolloutRecord, type Segment, type TokenChannel } from './rolloutRecord.ts';

const CHANNEL_BY_KEY = {
  loss_mask: 'loss',
  ce_weights: 'predicted',
  advantages: 'advantage',
  inference_logprobs: 'sampledLogprob',
  trainer_logprobs: 'logprob',
  entropy: 'entropy',
  importance_ratio: 'ratio',
  mismatch_kl: 'mismatchKl',
} as const satisfies Readonly<Record<string, TokenChannel>>;
const KEYS_READ = [
  'token_ids',
  'step',
  'rank',
  'export_sequence_idx',
  'env_name',
  'schema_version',
  ...Object.keys(CHANNEL_BY_KEY),
];

/** The token export `token_exports/step_{N}/rank_{R}.jsonl`. It has arrays but no text. Source: trainer/rl/token_export.py. */
export const primeRl: RolloutFormat = {
  name: 'prime-rl',
  label: 'prime-rl token export',
  keys: 'token_ids, loss_mask, trainer_logprobs',
  recognises: (line) => has(line, 'token_ids') && Object.keys(CHANNEL_BY_KEY).some((key) => has(line, key)),
  read: (line) => [readSequence(line)],
};

function readSequence(line: JsonRecord): RolloutRecord {
  const ids = idsOrNull(line, 'token_ids');
  if (!ids) throw new ProblemError({ got: 'no token_ids', want: 'a list of ids' });
  const channels = Object.entries(CHANNEL_BY_KEY).flatMap(([key, channel]) => {
    const values = numbersOrNull(line, key, ids.length);
    return values ? [[channel, values] as const] : [];
  });
  const idParts = ['step', 'rank', 'export_sequence_idx'].map((key) => numberOrNull(line, key));
  return recordWithDefaults({
    id: idParts.every((part) => part !== null) ? idParts.join('-') : null,
    step: idParts[0] ?? null,
    task: textOrNull(line, 'env_name'),
    segments: segmentsByLoss(numbersOrNull(line, 'loss_mask', ids.length) ?? ids.map(() => 1)),
    tokens: { ids, words: null, channels: Object.fromEntries(channels) },
    guessed: ['roles'],
    extras: unreadValues(line, KEYS_READ),
  });
}

/** A guess: tokens in the loss are actions, those before the first action the prompt, the rest observations. */
function segmentsByLoss(mask: readonly (number | null)[]): Segment[] {
  const segments: Segment[] = [];
  let turn = 0;
  for (let from = 0; from < mask.length;) {
    const inLoss = (mask[from] ?? 0) !== 0;
    let to = from + 1;
    while (to < mask.length && ((mask[to] ?? 0) !== 0) === inLoss) to++;
    if (inLoss) turn++;
    const role = inLoss ? 'action' : turn === 0 ? 'prompt' : 'observation';
    segments.push({ role, kind: role, turn, text: '', from, to });
    from = to;
  }
  return segments;
}

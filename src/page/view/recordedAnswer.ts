import { unflippedPreview, type RecordedReadings, switchFor } from '../../runs/recordedReadings.ts';
import type { Recording } from '../../runs/recording.ts';
import type { Answer, Question } from '../../wire/questions.ts';

const RUN_HINT = 'Press Run training to see it on your own run.';
const NOT_RECORDED = `The recording doesn’t include this. ${RUN_HINT}`;

/** The answer that the recorded run gave. Refuses, with a reason, if the recording doesn't hold it. */
export function recordedAnswer(recording: Recording, question: Question): Answer {
  const update = 'update' in question ? question.update : 'rollout' in question && 'update' in question.rollout ? question.rollout.update : null; // prettier-ignore
  const readings = update === null ? undefined : recording.readings.get(update);
  if (!readings) return { kind: 'refused', message: NOT_RECORDED };
  switch (question.kind) {
    case 'batch':
      return { kind: 'batch', kept: recording.batches.find(({ batch }) => batch.update === update) ?? null };
    case 'logprobs':
      return { kind: 'logprobs', ...logprobsAroundUpdate(recording, readings, question.update, question.row) };
    case 'distribution':
      return distribution(recording, readings, question);
    case 'why': {
      const found = readings.whys.find(isAt(question));
      if (found) return { kind: 'why', why: found.why, splitCost: null };
      return { kind: 'refused', message: `The recording explains only its ${readings.whys.length} biggest movers. ${RUN_HINT}` }; // prettier-ignore
    }
    case 'attention': {
      const found = readings.attentions.find(isAt(question));
      if (found) return { kind: 'attention', attention: found.attention };
      return { kind: 'refused', message: `The recording has attention only for its ${readings.attentions.length} biggest movers. ${RUN_HINT}` }; // prettier-ignore
    }
    case 'rerun':
      return { kind: 'rerun', ...readings.rerun };
    case 'preview': {
      const recordedBatch = recording.batches.find(({ batch }) => batch.update === update);
      const flippedMask = recordedBatch && switchFor(question.changes, recordedBatch.config);
      if (!flippedMask) return { kind: 'refused', message: `The recording can preview only the two masks. ${RUN_HINT}` }; // prettier-ignore
      const [batch, before] = [
        readings.switchPreviews[flippedMask],
        unflippedPreview(recordedBatch.batch, readings.switchPreviews),
      ];
      return {
        kind: 'preview',
        preview: { batch: { ...recordedBatch.batch, epochViews: [], ...batch }, before: { epochViews: [], ...before } },
      };
    }
    default:
      return { kind: 'refused', message: NOT_RECORDED };
  }
}

interface TokenPosition {
  readonly row: number;
  readonly position: number;
}

function isAt({ row, position }: TokenPosition): (place: TokenPosition) => boolean {
  return (place) => place.row === row && place.position === position;
}

/** Log-probabilities before and after an update, of one row or (null) of all rows. */
function logprobsAroundUpdate(
  { batches }: Recording,
  { moved: { before, after } }: RecordedReadings,
  update: number,
  row: number | null,
) {
  const length = batches.find(({ batch }) => batch.update === update)?.batch.length ?? 0;
  const rowOf = (logprobs: Float32Array) =>
    row === null ? logprobs : logprobs.slice(row * length, (row + 1) * length);
  return { before: rowOf(before), after: rowOf(after) };
}

function distribution(
  { batches, vocabulary }: Recording,
  { distributions }: RecordedReadings,
  question: Extract<Question, { kind: 'distribution' }>,
): Answer {
  const { rollout, position } = question;
  if (!('update' in rollout) || question.since) return { kind: 'refused', message: NOT_RECORDED };
  const reading = distributions.find(isAt({ row: rollout.row, position }));
  const batch = batches.find((kept) => kept.batch.update === rollout.update)?.batch;
  const i = rollout.row * (batch?.length ?? 0) + position;
  const logprobsOf = (tokens: readonly number[], values: readonly number[]) => {
    const all = new Float32Array(vocabulary.length).fill(-Infinity);
    tokens.forEach((token, k) => (all[token] = values[k] ?? -Infinity));
    return all;
  };
  if (reading) {
    const [before, after] = [logprobsOf(reading.tokens, reading.before), logprobsOf(reading.tokens, reading.after)];
    return { kind: 'distribution', before, after, now: after, legal: reading.legal };
  }
  if (batch?.singles[i] === 1) {
    const certain = logprobsOf([batch.tokens[i] ?? 0], [0]); // the only legal token has probability 1
    return { kind: 'distribution', before: certain, after: certain, now: certain };
  }
  return { kind: 'refused', message: `The recording has this only for its ${distributions.length} most uncertain tokens. ${RUN_HINT}` }; // prettier-ignore
}

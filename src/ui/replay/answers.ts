import { recordedBefore, type RecordedReadings, switchFor } from '../../runs/recordedReadings.ts';
import type { Recording } from '../../runs/recording.ts';
import type { Answer, Question } from '../../wire/questions.ts';

const RUN_IT = 'Press Run training to see it on your own run.';
const NOT_RECORDED = `The recording doesn’t include this. ${RUN_IT}`;

/**
 * Answers a question about recorded rollouts with what the recorded run answered. If the recording doesn't hold that,
 * refuses with a reason.
 */
export function recordedAnswer(recording: Recording, question: Question): Answer {
  const update = 'update' in question ? question.update : 'of' in question && 'update' in question.of ? question.of.update : null; // prettier-ignore
  const readings = update === null ? undefined : recording.readings.get(update);
  if (!readings) return { kind: 'refused', message: NOT_RECORDED };
  switch (question.kind) {
    case 'batch':
      return { kind: 'batch', kept: recording.batches.find(({ batch }) => batch.update === update) ?? null };
    case 'logprobs':
      return { kind: 'logprobs', ...movedLogprobs(recording, readings, question.update, question.row) };
    case 'distribution':
      return distribution(recording, readings, question);
    case 'why': {
      const found = readings.whys.find(isAt(question));
      if (found) return { kind: 'why', why: found.why, apart: null };
      return { kind: 'refused', message: `The recording explains only its ${readings.whys.length} biggest movers. ${RUN_IT}` }; // prettier-ignore
    }
    case 'attention': {
      const found = readings.attentions.find(isAt(question));
      if (found) return { kind: 'attention', attention: found.attention };
      return { kind: 'refused', message: `The recording has attention only for its ${readings.attentions.length} biggest movers. ${RUN_IT}` }; // prettier-ignore
    }
    case 'rerun':
      return { kind: 'rerun', ...readings.rerun };
    case 'preview': {
      const recordedBatch = recording.batches.find(({ batch }) => batch.update === update);
      const flippedMask = recordedBatch && switchFor(question.changes, recordedBatch.config);
      if (!flippedMask) return { kind: 'refused', message: `The recording can preview only the two masks. ${RUN_IT}` }; // prettier-ignore
      const [batch, before] = [
        readings.switchPreviews[flippedMask],
        recordedBefore(recordedBatch.batch, readings.switchPreviews),
      ];
      return {
        kind: 'preview',
        preview: { batch: { ...recordedBatch.batch, passes: [], ...batch }, before: { passes: [], ...before } },
      };
    }
    default:
      return { kind: 'refused', message: NOT_RECORDED };
  }
}

interface Place {
  readonly row: number;
  readonly position: number;
}

function isAt({ row, position }: Place): (place: Place) => boolean {
  return (place) => place.row === row && place.position === position;
}

/** Log-probabilities before and after an update, of one row or (null) of all rows. */
function movedLogprobs(
  { batches }: Recording,
  { moved: { before, after } }: RecordedReadings,
  update: number,
  row: number | null,
) {
  const length = batches.find(({ batch }) => batch.update === update)?.batch.length ?? 0;
  const cut = (list: Float32Array) => (row === null ? list : list.slice(row * length, (row + 1) * length));
  return { before: cut(before), after: cut(after) };
}

function distribution(
  { batches, vocabulary }: Recording,
  { distributions }: RecordedReadings,
  question: Extract<Question, { kind: 'distribution' }>,
): Answer {
  const { of, position } = question;
  if (!('update' in of) || question.since) return { kind: 'refused', message: NOT_RECORDED };
  const found = distributions.find(isAt({ row: of.row, position }));
  const batch = batches.find((kept) => kept.batch.update === of.update)?.batch;
  const i = of.row * (batch?.length ?? 0) + position;
  const list = (tokens: readonly number[], values: readonly number[]) => {
    const all = new Float32Array(vocabulary.length).fill(-Infinity);
    tokens.forEach((token, k) => (all[token] = values[k] ?? -Infinity));
    return all;
  };
  if (found) {
    const [before, after] = [list(found.tokens, found.before), list(found.tokens, found.after)];
    return { kind: 'distribution', before, after, now: after, legal: found.legal };
  }
  if (batch?.singles[i] === 1) {
    const certain = list([batch.tokens[i] ?? 0], [0]); // the only legal token has probability 1
    return { kind: 'distribution', before: certain, after: certain, now: certain };
  }
  return { kind: 'refused', message: `The recording has this only for its ${distributions.length} most uncertain tokens. ${RUN_IT}` }; // prettier-ignore
}

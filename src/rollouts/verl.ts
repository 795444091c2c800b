import type { JsonRecord } from '../base/jsonRecord.ts';
import { extrasOf, flagOrNull, has, numberOrNull, textOf, textOrNull } from './jsonFields.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { isGlued, segmentsOf, split } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const FACTS = {
  score: numberOrNull,
  step: numberOrNull,
  uid: textOrNull,
  request_id: textOrNull,
  acc: flagOrNull,
} as const;

/**
 * verl's dump of rollouts or validations, `{global_step}.jsonl` (`trainer.rollout_data_dir`, `validation_data_dir`),
 * and the flat dump of Agent-R1 before 2026: two texts and a score. Source: `_write_generations` in
 * verl/trainer/ppo/v1/trainer_base.py and ray_trainer.py.
 */
export const verl: Format = {
  name: 'verl',
  label: 'verl',
  keys: 'input, output, score',
  recognises: (line) => has(line, 'input', 'output'),
  read: (line, context) => [readVerl(line, context)],
};

function readVerl(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const uid = textOrNull(line, 'uid');
  const group = uid === null ? null : groupOf(uid);
  const input = textOf(line, 'input');
  const glued = isGlued(input, pattern);
  const pieces = [
    ...split(input, pattern, 'prompt', glued).map((piece) => ({ ...piece, ...asPrompt(piece.role) })),
    ...split(textOf(line, 'output'), pattern, 'action', glued),
  ];
  const segments = segmentsOf(pieces);
  return bareRecord({
    id: uid ?? textOrNull(line, 'request_id'),
    step: numberOrNull(line, 'step'),
    group: group ?? promptGroup(input),
    reward: numberOrNull(line, 'score'),
    success: flagOrNull(line, 'acc'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: group === null ? ['roles', 'turns', 'group'] : ['roles', 'turns'],
    extras: extrasOf(line, ['input', 'output'], FACTS),
  });
}

/** Turns actions into prompt: text in the prompt is not a turn of this rollout, even if an assistant wrote it. */
function asPrompt(role: string) {
  return role === 'action' ? ({ role: 'prompt', kind: 'prompt' } as const) : {};
}

/**
 * The group in a uid of verl V1, `{sample}_{rollout}_{output}`: its sample. Null if the uid does not end in two
 * numbers.
 */
function groupOf(uid: string): string | null {
  return /^(.+)_\d+_\d+$/.exec(uid)?.[1] ?? null;
}

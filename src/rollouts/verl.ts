import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, flagOrNull, has, numberOrNull, textAt, textOrNull } from './jsonFields.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { hasRolesRunTogether, segmentsOf, splitByRole } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { recordWithDefaults, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const SCALAR_READERS = {
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
export const verl: RolloutFormat = {
  name: 'verl',
  label: 'verl',
  keys: 'input, output, score',
  recognises: (line) => has(line, 'input', 'output'),
  read: (line, context) => [readVerl(line, context)],
};

function readVerl(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const uid = textOrNull(line, 'uid');
  const group = uid === null ? null : groupOfUid(uid);
  const input = textAt(line, 'input');
  const rolesRunTogether = hasRolesRunTogether(input, pattern);
  const pieces = [
    ...splitByRole(input, pattern, 'prompt', rolesRunTogether).map((piece) => ({
      ...piece,
      ...actionAsPrompt(piece.role),
    })),
    ...splitByRole(textAt(line, 'output'), pattern, 'action', rolesRunTogether),
  ];
  const segments = segmentsOf(pieces);
  return recordWithDefaults({
    id: uid ?? textOrNull(line, 'request_id'),
    step: numberOrNull(line, 'step'),
    group: group ?? promptGroup(input),
    reward: numberOrNull(line, 'score'),
    success: flagOrNull(line, 'acc'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: group === null ? ['roles', 'turns', 'group'] : ['roles', 'turns'],
    extras: unreadValues(line, ['input', 'output'], SCALAR_READERS),
  });
}

/** Turns actions into prompt: text in the prompt is not a turn of this rollout, even if an assistant wrote it. */
function actionAsPrompt(role: string) {
  return role === 'action' ? ({ role: 'prompt', kind: 'prompt' } as const) : {};
}

/** The sample in a uid of verl V1, `{sample}_{rollout}_{output}`. Null if the uid does not end in two numbers. */
function groupOfUid(uid: string): string | null {
  return /^(.+)_\d+_\d+$/.exec(uid)?.[1] ?? null;
}

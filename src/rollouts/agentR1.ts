import type { JsonRecord } from '../base/jsonRecord.ts';
import { extrasOf, flagOrNull, has, numberOrNull, objectsOf, textOf, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { isGlued, type Piece, segmentsOf, split } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const READ = ['input', 'output', 'steps'];
const FACTS = {
  trajectory_uid: textOrNull,
  step: numberOrNull,
  score: numberOrNull,
  num_steps: numberOrNull,
  acc: flagOrNull,
} as const;

/** Agent-R1's dump, one line a trajectory of steps. Source: `build_trajectory_dump_entries` in agent_r1/trainer/ppo/ray_trainer.py. */
export const agentR1: Format = {
  name: 'agent-r1',
  label: 'Agent-R1',
  keys: 'trajectory_uid, steps',
  recognises: (line) => has(line, 'steps') && (has(line, 'trajectory_uid') || has(line, 'num_steps')),
  read: (line, context) => [readTrajectory(line, context)],
};

function readTrajectory(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const steps = objectsOf(line, 'steps');
  if (steps.length === 0) throw new ProblemError({ got: 'a trajectory of no steps', want: 'one step at least' });
  const pieces: Piece[] = [];
  const begun = textOf(steps[0]!, 'input');
  const glued = isGlued(begun, pattern);
  let before = { input: '', output: '' };
  for (const step of steps) {
    const now = { input: textOf(step, 'input'), output: textOf(step, 'output') };
    const fresh = since(before, now.input);
    if (pieces.length === 0) pieces.push(...given(split(fresh, pattern, 'prompt', glued), 'prompt'));
    else pieces.push(...given(split(fresh, pattern, 'observation', glued), 'observation'));
    pieces.push(...split(now.output, pattern, 'action', glued));
    before = now;
  }
  const segments = segmentsOf(pieces);
  return bareRecord({
    id: textOrNull(line, 'trajectory_uid'),
    step: numberOrNull(line, 'step'),
    group: promptGroup(begun),
    reward: numberOrNull(line, 'score'),
    rewardParts: steps.flatMap((step, i) => {
      const score = numberOrNull(step, 'score');
      return score === null ? [] : [[`step ${numberOrNull(step, 'step_index') ?? i}`, score] as const];
    }),
    success: flagOrNull(line, 'acc'),
    turns: numberOrNull(line, 'num_steps') ?? countTurns(segments), // a step in which nothing was said is one, too
    toolCalls: countCalls(segments),
    segments,
    guessed: ['roles', 'group'],
    extras: [...extrasOf(line, READ, FACTS), ...steps.flatMap((step, i) => extrasOfStep(step, i))],
  });
}

function extrasOfStep(step: JsonRecord, i: number) {
  return extrasOf(step, ['step_index', 'input', 'output', 'gts'], { score: numberOrNull }).map(
    ([name, value]) => [`step ${i}: ${name}`, value] as const,
  );
}

/** The part of a step's prompt that is new since the step before. If the prompt does not continue that step, all of it. */
function since(before: { readonly input: string; readonly output: string }, input: string): string {
  if (before.input === '') return input;
  const whole = before.input + before.output;
  if (input.startsWith(whole)) return input.slice(whole.length);
  const at = before.output === '' ? -1 : input.lastIndexOf(before.output);
  return at < 0 ? input : input.slice(at + before.output.length);
}

/** Pieces of a prompt: what the agent wrote in it is history, and no turn of this step. */
function given(pieces: readonly Piece[], as: 'prompt' | 'observation'): Piece[] {
  return pieces.map((piece) => {
    if (piece.role === 'action') return { ...piece, role: as, kind: as };
    // tools answer in a message of the user
    return piece.role === 'prompt' && as === 'observation' ? { ...piece, role: as, kind: as } : piece;
  });
}

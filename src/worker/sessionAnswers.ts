import { causeOf, DeviceLostError } from '../gpu/device.ts';
import { deviceLost } from '../session/errorEvent.ts';
import type { Session } from '../session/session.ts';
import type { Answer, Question } from '../wire/questions.ts';

/** Asks the run. If that fails, the answer is `refused` with the reason. */
async function answerOrRefusal(session: Session | null, question: Question): Promise<Answer> {
  if (!session) return { kind: 'refused', message: 'There is no run to ask. Run training first.' };
  try {
    return await session.answer(question);
  } catch (failure) {
    const error = await causeOf(failure, session.policy.lost);
    if (error instanceof DeviceLostError) return { kind: 'refused', message: deviceLost(error.message, true).message };
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Makes a function that answers questions one after another. Each question goes to the run that is current at its turn.
 * The promise resolves when the question is answered.
 */
export function answerQueue(
  session: () => Session | null,
  post: (answer: { readonly type: 'answer'; readonly id: number; readonly answer: Answer }) => void,
): (request: { readonly id: number; readonly question: Question }) => Promise<void> {
  let queue = Promise.resolve();
  return ({ id, question }) =>
    (queue = queue.then(async () => post({ type: 'answer', id, answer: await answerOrRefusal(session(), question) })));
}

import { causeOf, DeviceLostError } from '../gpu/device.ts';
import { deviceLost } from '../session/errorEvent.ts';
import type { Session } from '../session/session.ts';
import type { Answer, Question } from '../wire/questions.ts';

/** What the run answers; what goes wrong is `refused`, in words. */
async function answered(session: Session | null, question: Question): Promise<Answer> {
  if (!session) return { kind: 'refused', message: 'There is no run to ask. Run training first.' };
  try {
    return await session.answer(question);
  } catch (failure) {
    const error = await causeOf(failure, session.policy.lost);
    if (error instanceof DeviceLostError) return { kind: 'refused', message: deviceLost(error.message, true).message };
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Answers questions one after the other, each of the run that is there when its turn comes; resolves when a question is answered. */
export function answering(
  session: () => Session | null,
  post: (answer: { readonly type: 'answer'; readonly id: number; readonly answer: Answer }) => void,
): (asked: { readonly id: number; readonly question: Question }) => Promise<void> {
  let last = Promise.resolve();
  return ({ id, question }) =>
    (last = last.then(async () => post({ type: 'answer', id, answer: await answered(session(), question) })));
}

import { causeOf, DeviceLostError } from '../gpu/device.ts';
import { deviceLost } from '../session/errorEvent.ts';
import type { Session } from '../session/session.ts';
import type { Answer, Question } from '../wire/questions.ts';

/** What the run answers; what goes wrong is `refused`, in words. */
export async function answered(session: Session | null, question: Question): Promise<Answer> {
  if (!session) return { kind: 'refused', message: 'There is no run to ask. Run training first.' };
  try {
    return await session.answer(question);
  } catch (failure) {
    const error = await causeOf(failure, session.policy.lost);
    if (error instanceof DeviceLostError) return { kind: 'refused', message: deviceLost(error.message, true).message };
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

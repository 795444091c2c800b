import { visible } from '../base/visible.ts';
import { Role } from '../domain/tokens.ts';
import type { Answer } from '../wire/questions.ts';

type TalkAnswer = Extract<Answer, { kind: 'talk' }>;

/** What the agent and its tools said, a line a turn, with the verdict last. Names from outside show as text and nothing else. */
export function talkLines(said: TalkAnswer): readonly string[] {
  const { batch, episode, words } = read(said);
  const turns = new Map<number, string[]>();
  for (const [t, word] of words.entries()) {
    const turn = batch.turns[t] ?? 0;
    const told = batch.roles[t] === Role.action ? word : `\u001b[2m${word}\u001b[22m`;
    turns.set(turn, [...(turns.get(turn) ?? []), process.stdout.isTTY ? told : word]);
  }
  const verdict = said.judged
    ? `${episode.success ? 'solved' : 'not solved'}, reward ${Number(episode.reward.toPrecision(4))}`
    : 'nobody has told the environment what is right';
  return [
    visible(episode.question),
    ...Array.from(turns, ([turn, text]) => `${turn === 0 ? '  ' : `${turn} `} ${text.join(' ')}`),
    `   ${episode.stop}: ${verdict}`,
    '',
  ];
}

/** The same as plain data. */
export function talkRecord(said: TalkAnswer) {
  const { batch, episode, words } = read(said);
  const { question, success, reward, stop, toolCalls, invalidTurns } = episode;
  return {
    question,
    tokens: words,
    sampled: words.map((_, t) => batch.roles[t] === Role.action),
    logprobs: words.map((_, t) => (batch.roles[t] === Role.action ? batch.sampledLogprobs[t] : null)),
    ...{ success: said.judged ? success : null, reward: said.judged ? reward : null },
    ...{ stop, toolCalls, invalidTurns },
  };
}

function read({ said: batch, vocabulary }: TalkAnswer) {
  const [episode] = batch.episodes;
  if (!episode) throw new RangeError('talkLines: the batch has no episode. Pass one row.');
  const tokens = Array.from(batch.tokens.subarray(0, batch.lengths[0]));
  const words = tokens.map((id) => visible(episode.names.get(id) ?? vocabulary[id] ?? `#${id}`));
  return { batch, episode, words };
}

import type { AnswerScores } from '../domain/envView.ts';

/**
 * Normalizes an answer as HotpotQA's `normalize_answer` does (hotpot_evaluate_v1.py, after SQuAD's): converts to lower
 * case, removes ASCII punctuation, removes the articles a, an and the, then collapses white space.
 */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(/\s+/)
    .filter(Boolean)
    .join(' ');
}

// these answers get no partial credit (HotpotQA)
const ALL_OR_NOTHING = ['yes', 'no', 'noanswer'];

/** HotpotQA's token F1: the harmonic mean of precision and recall over the multiset of words, after normalization. */
export function answerF1(given: string, wanted: string): number {
  const [answer, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  if (answer !== gold && (ALL_OR_NOTHING.includes(answer) || ALL_OR_NOTHING.includes(gold))) return 0;
  const unmatched = gold.split(' ').filter(Boolean);
  const [answerWords, goldWords] = [answer.split(' ').filter(Boolean).length, unmatched.length];
  let common = 0;
  for (const word of answer.split(' ')) {
    const at = unmatched.indexOf(word);
    if (at < 0) continue;
    unmatched.splice(at, 1);
    common++;
  }
  return common === 0 ? 0 : (2 * common) / (answerWords + goldWords);
}

/** Scores an answer by exact match, by containing the wanted answer (both normalized), and by F1. */
export function answerScores(given: string | null, wanted: string): AnswerScores {
  if (given === null) return { exact: 0, contains: 0, f1: 0 };
  const [answer, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  return { exact: answer === gold ? 1 : 0, contains: answer.includes(gold) ? 1 : 0, f1: answerF1(given, wanted) };
}

import type { AnswerScores } from '../domain/envView.ts';

/**
 * HotpotQA's `normalize_answer` (hotpot_evaluate_v1.py, after SQuAD's): lower case, then ASCII punctuation out, then the
 * articles a, an, the out, then runs of white space made one.
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

// An answer that is one of these has to be right as a whole: no partial credit (HotpotQA).
const WHOLE = ['yes', 'no', 'noanswer'];

/** HotpotQA's token F1: the harmonic mean of precision and recall over the multiset of words, after normalisation. */
export function answerF1(given: string, wanted: string): number {
  const [said, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  if (said !== gold && (WHOLE.includes(said) || WHOLE.includes(gold))) return 0;
  const left = gold.split(' ').filter(Boolean);
  const [saidWords, goldWords] = [said.split(' ').filter(Boolean).length, left.length];
  let common = 0;
  for (const word of said.split(' ')) {
    const at = left.indexOf(word);
    if (at < 0) continue;
    left.splice(at, 1);
    common++;
  }
  return common === 0 ? 0 : (2 * common) / (saidWords + goldWords);
}

/** How right an answer is: all of it, the wanted answer somewhere in it (normalised text in normalised text), or in part. */
export function answerScores(given: string | null, wanted: string): AnswerScores {
  if (given === null) return { exact: 0, contains: 0, f1: 0 };
  const [said, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  return { exact: said === gold ? 1 : 0, contains: said.includes(gold) ? 1 : 0, f1: answerF1(given, wanted) };
}

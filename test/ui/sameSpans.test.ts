import { expect, test } from 'vitest';
import { DEFAULTS } from '../../src/config/fields.ts';
import { withTokens, type TextToken } from '../../src/domain/textSpans.ts';
import { Role } from '../../src/domain/tokens.ts';
import { ownFormat } from '../../src/rollouts/ownFormat.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { ownLines } from '../../src/rollouts/writeOwn.ts';
import { readRollout } from '../../src/page/rollout/readRollout.ts';
import { example, exampleVocabulary } from './example.ts';
import { longBatch, longVocabulary } from './longText.ts';

const ROW = 3;
const LONG = longBatch(1);
const only = (batch: typeof LONG) => ({ ...batch, episodes: batch.episodes.filter(({ row }) => row === ROW) });

test.each([
  ['words', example, exampleVocabulary],
  ['text', LONG, longVocabulary],
] as const)('a rollout of %s has the same spans in the lab and in its own file', (_, batch, vocabulary) => {
  const { turns, kinds } = readRollout(batch, vocabulary, ROW);
  expect(new Set(kinds).size).toBeGreaterThan(2);
  const [line = ''] = ownLines({ batch: only(batch), config: DEFAULTS }, vocabulary);
  const reading = { pattern: DEFAULT_PATTERN, wholeNumbers: new Set<string>() };
  const [record] = ownFormat.read(JSON.parse(line) as Readonly<Record<string, unknown>>, reading);
  expect(record?.segments.map(({ turn, kind, from, to }) => [turn, kind, from, to])).toEqual(
    turns.flatMap(({ turn, spans }) =>
      spans.map(({ kind, tokens }) => [turn, kind, tokens[0], (tokens.at(-1) ?? 0) + 1]),
    ),
  );
});

test('a rollout of text has the same spans in the lab and as a chat', () => {
  const { words, turns } = readRollout(LONG, longVocabulary, ROW);
  const from = ROW * LONG.length;
  const said = words.map((word, t): TextToken => {
    const role = Object.values(Role).find((each) => each === LONG.roles[from + t]) ?? Role.pad;
    return { text: word.replaceAll('⏎', '\n'), role, turn: LONG.turns[from + t] ?? 0, special: false };
  });
  expect(withTokens([], said).map(({ turn, kind, from: first, count }) => [turn, kind, first, count])).toEqual(
    turns.flatMap(({ turn, spans }) => spans.map(({ kind, tokens }) => [turn, kind, tokens[0], tokens.length])),
  );
});

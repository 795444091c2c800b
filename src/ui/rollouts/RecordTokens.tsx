import { useMemo } from 'react';
import { type RolloutRecord, type TokenChannel, TOKEN_CHANNELS } from '../../rollouts/rolloutRecord.ts';
import type { TokenAnnotations } from '../tokens/TokenView.tsx';
import { LongTokens } from './LongTokens.tsx';
import type { SpanKind } from '../../domain/tokens.ts';
import { fullStrength } from '../../page/rollout/channels.ts';
import { fillOf, type Look, memoizedLook, type ShownSpan, type ShownTurn } from '../../page/rollout/tokenLook.ts';

interface Props {
  readonly record: RolloutRecord;
  readonly channel: TokenChannel | null; // null: running text
  readonly brief?: boolean; // one of several side by side
}

const ANNOTATIONS: TokenAnnotations = { heading: 'h3' };

export function RecordTokens({ record, channel, brief = false }: Props) {
  const turns = useMemo(() => recordTurns(record, channel === null), [record, channel]);
  const looks = useMemo(() => recordLooks(record), [record]);
  const setting = record.tokens?.writing ?? 'words';
  return <LongTokens {...{ turns, channel, looks, brief, layout: setting }} annotations={ANNOTATIONS} />;
}

/** A span has a text if `asText` is set or the file has no tokens for it, otherwise only tokens. */
export function recordTurns({ segments, tokens }: RolloutRecord, asText = false): readonly ShownTurn[] {
  const turns: { turn: number; spans: ShownSpan[] }[] = [];
  for (const { kind, turn, text, from, to } of segments) {
    const ids = from === null ? [] : Array.from({ length: (to ?? from) - from }, (_, i) => from + i);
    const span = { kind, tokens: ids, ...((asText || !tokens || from === null) && { text }) };
    if (turns.at(-1)?.turn === turn) turns.at(-1)?.spans.push(span);
    else turns.push({ turn, spans: [span] });
  }
  return turns;
}

/** Gives the looks of an opened rollout's tokens for one of its lists of numbers; null: without numbers. */
export function recordLooks({ segments, tokens }: RolloutRecord): (channel: TokenChannel | null) => Look {
  const kinds: SpanKind[] = [];
  for (const { kind, from, to } of segments) {
    if (from !== null) for (let t = from; t < (to ?? from); t++) kinds[t] = kind;
  }
  const looks = new Map<TokenChannel | null, Look>();
  const lookOf = (channel: TokenChannel | null): Look => {
    const values = channel === null ? [] : (tokens?.channels[channel] ?? []);
    const scale = fullStrength(values.flatMap((value) => (value ? [Math.abs(value)] : [])));
    const [ids, words] = [tokens?.ids ?? [], tokens?.words];
    return memoizedLook((t) => ({
      word: words?.[t] ?? `#${ids[t]}`,
      kind: kinds[t] ?? 'action',
      title: `token ${t}, id ${ids[t]}${words ? '' : ': the file has no word for it'}`,
      ...(channel !== null && { fill: fillOf(values[t], TOKEN_CHANNELS[channel].ramp, scale) }),
    }));
  };
  return (channel) => {
    const look = looks.get(channel) ?? lookOf(channel);
    looks.set(channel, look);
    return look;
  };
}

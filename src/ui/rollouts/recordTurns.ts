import type { RolloutRecord, TokenChannel } from '../../rollouts/rolloutRecord.ts';
import { TOKEN_CHANNELS } from '../../rollouts/rolloutRecord.ts';
import type { Kind, SpanKind } from '../../domain/tokens.ts';
import { isTag } from '../../domain/tokenSpans.ts';
import { fullStrength } from '../parts/strength.ts';
import type { Rollout } from '../rollout/readRollout.ts';
import { fillOf, type Look, onceEach, type ShownSpan, type ShownTurn } from '../rollout/tokenLook.ts';

/** An opened rollout as turns of spans: of tokens, or of text where the file has no tokens or `asText` is asked for. */
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

/** A rollout that the page itself wrote, ready to read as in the lab. */
export function ownRollout(record: RolloutRecord): Omit<Rollout, 'row'> {
  const { words, writing = 'words' } = record.tokens ?? {};
  const kinds = kindsIn(record);
  const turns = recordTurns(record).map(({ turn, spans }) => ({
    turn,
    spans: spans.map(({ kind, tokens }) => ({ kind: ownKind(kind), tokens })),
  }));
  return { words: words ?? [], tags: (words ?? []).map(isTag), kinds, turns, writing };
}

/** The page writes no system messages, and of its agents' words the kind is always known. */
function ownKind(kind: SpanKind): Kind {
  return kind === 'system' ? 'prompt' : kind === 'action' ? 'call' : kind;
}

function kindsIn({ segments, tokens }: RolloutRecord): readonly (Kind | null)[] {
  const kinds: (Kind | null)[] = (tokens?.ids ?? []).map(() => null);
  for (const { kind, from, to } of segments) if (from !== null) kinds.fill(ownKind(kind), from, to ?? from);
  return kinds;
}

/** How the tokens of an opened rollout look under each of its lists; null: under none. */
export function recordLooks({ segments, tokens }: RolloutRecord): (channel: TokenChannel | null) => Look {
  const kinds: SpanKind[] = [];
  for (const { kind, from, to } of segments) {
    if (from !== null) for (let t = from; t < (to ?? from); t++) kinds[t] = kind;
  }
  const known = new Map<TokenChannel | null, Look>();
  const lookOf = (channel: TokenChannel | null): Look => {
    const values = channel === null ? [] : (tokens?.channels[channel] ?? []);
    const scale = fullStrength(values.flatMap((value) => (value ? [Math.abs(value)] : [])));
    const [ids, words] = [tokens?.ids ?? [], tokens?.words];
    return onceEach((t) => ({
      word: words?.[t] ?? `#${ids[t]}`,
      kind: kinds[t] ?? 'action',
      title: `token ${t}, id ${ids[t]}${words ? '' : ': the file has no word for it'}`,
      ...(channel !== null && { fill: fillOf(values[t], TOKEN_CHANNELS[channel].ramp, scale) }),
    }));
  };
  return (channel) => {
    const look = known.get(channel) ?? lookOf(channel);
    known.set(channel, look);
    return look;
  };
}

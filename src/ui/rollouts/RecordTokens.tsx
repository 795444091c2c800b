import { useMemo } from 'react';
import type { RolloutRecord, TokenChannel } from '../../rollouts/rolloutRecord.ts';
import type { TokenAnnotations } from '../rollout/TokenView.tsx';
import { LongTokens } from './LongTokens.tsx';
import { recordLooks, recordTurns } from './recordTurns.ts';

interface Props {
  readonly record: RolloutRecord;
  readonly channel: TokenChannel | null; // null: flowing text
  readonly brief?: boolean; // beside others
}

const AROUND: TokenAnnotations = { heading: 'h3' };

/** An opened rollout as flowing text, or its tokens with a number each that the file has. */
export function RecordTokens({ record, channel, brief = false }: Props) {
  const turns = useMemo(() => recordTurns(record, channel === null), [record, channel]);
  const looks = useMemo(() => recordLooks(record), [record]);
  const setting = record.tokens?.writing ?? 'words';
  return <LongTokens {...{ turns, channel, looks, brief, setting }} around={AROUND} />;
}

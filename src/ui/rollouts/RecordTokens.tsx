import { useMemo } from 'react';
import type { RolloutRecord, TokenChannel } from '../../rollouts/rolloutRecord.ts';
import { type Around, TokenView } from '../rollout/TokenView.tsx';
import { recordLooks, recordTurns } from './recordTurns.ts';

interface Props {
  readonly record: RolloutRecord;
  readonly channel: TokenChannel | null; // null: flowing text
  readonly brief?: boolean; // beside others
}

const AROUND: Around = { heading: 'h3' };
const BRIEF: Around = { heading: 'h3', brief: true };

/** An opened rollout as flowing text, or its tokens with a number each that the file has. */
export function RecordTokens({ record, channel, brief = false }: Props) {
  const turns = useMemo(() => recordTurns(record, channel === null), [record, channel]);
  const looks = useMemo(() => recordLooks(record), [record]);
  return (
    <TokenView
      {...{ turns, channel, looks }}
      long
      setting={record.tokens?.writing ?? 'words'}
      around={brief ? BRIEF : AROUND}
      className={brief ? 'record-tokens brief' : 'record-tokens'}
    />
  );
}

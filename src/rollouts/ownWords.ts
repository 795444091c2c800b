import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { field, objectAt } from './jsonFields.ts';

/** The key in a trace's `info` under which this project stores data that verifiers has no field for. */
export const OWN_INFO = 'rollout_playground';

/** The word of each token id, from the `info` of a trace that this project wrote; null for other traces. */
export function wordsById(info: JsonRecord): ReadonlyMap<number, string> | null {
  const ownInfo = field(info, OWN_INFO);
  if (!isRecord(ownInfo)) return null;
  const words = objectAt(ownInfo, 'words');
  return new Map(Object.keys(words).map((id) => [Number(id), String(words[id])]));
}

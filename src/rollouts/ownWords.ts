import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { field, objectOf } from './jsonFields.ts';

/** The key of a trace's `info` under which this project keeps what verifiers has no field for. */
export const OWN_INFO = 'rollout_playground';

/** The words of token ids, where a trace of this project says them; null elsewhere. */
export function wordsIn(info: JsonRecord): ReadonlyMap<number, string> | null {
  const own = field(info, OWN_INFO);
  if (!isRecord(own)) return null;
  const words = objectOf(own, 'words');
  return new Map(Object.keys(words).map((id) => [Number(id), String(words[id])]));
}

import type { Problem } from '../base/problem.ts';

/** A problem in a file. The line is null if the problem is the file as a whole. */
export type LineProblem = Required<Pick<Problem, 'file' | 'line' | 'got' | 'want'>>;

/** Names of files that may hold rollouts, also rotated and compressed ones. */
export const ROLLOUT_FILE = /\.(?:jsonl?|ndjson|parquet)(?:[.-]\d{1,8})?(?:\.(?:zst|gz))?$/i;
const ACCEPTED_FORMATS = 'JSON Lines in UTF-8 (.jsonl), or Parquet';

/** First bytes of files that cannot hold rollouts, each with a message that says what to do. */
const REFUSED_FORMATS: readonly { readonly bytes: readonly number[]; readonly got: string; readonly want: string }[] = [
  { bytes: [0xff, 0xfe], got: 'UTF-16', want: 'UTF-8: save the file in that encoding' },
  { bytes: [0xfe, 0xff], got: 'UTF-16', want: 'UTF-8: save the file in that encoding' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], got: 'a zip file', want: `${ACCEPTED_FORMATS}: unpack it first` },
  {
    bytes: [0x80, 0x04],
    got: 'a pickle',
    want: `${ACCEPTED_FORMATS}; RAGEN’s scripts/convert_to_jsonl.py converts it`,
  },
  {
    bytes: [0x80, 0x05],
    got: 'a pickle',
    want: `${ACCEPTED_FORMATS}; RAGEN’s scripts/convert_to_jsonl.py converts it`,
  },
  {
    bytes: [0x80, 0x02],
    got: 'a pickle',
    want: `${ACCEPTED_FORMATS}; RAGEN’s scripts/convert_to_jsonl.py converts it`,
  },
];

/** The reason why a file with these first bytes is not read, or null if it may hold rollouts. */
export function refusalOf(firstBytes: Uint8Array, size: number): Pick<LineProblem, 'got' | 'want'> | null {
  if (size === 0) return { got: 'an empty file', want: ACCEPTED_FORMATS };
  const otherFormat = REFUSED_FORMATS.find(({ bytes }) => bytes.every((byte, i) => firstBytes[i] === byte));
  if (otherFormat) return otherFormat;
  const begin = String.fromCharCode(...firstBytes).trimStart();
  if (begin.startsWith('[')) {
    return {
      got: 'a JSON list',
      want: `${ACCEPTED_FORMATS}: write each entry on a line of its own, for example with jq -c '.[]' FILE`,
    };
  }
  if (/^\{\s*"(?:columns|_type|ncols|nrows)"\s*:/.test(begin) && /"columns"\s*:\s*\[/.test(begin))
    return { got: 'a wandb table', want: `${ACCEPTED_FORMATS}: write each row as an object on a line of its own` };
  const zeros = firstBytes.filter((byte) => byte === 0).length;
  if (zeros > 0 && String.fromCharCode(...firstBytes.subarray(0, 4)) !== 'PAR1') {
    return { got: 'bytes that are not text (UTF-16, or a binary file)', want: ACCEPTED_FORMATS };
  }
  return null;
}

const STEP_IN_PATH = /(?:^|[/_-])(?:global_)?(?:step|completions|iter|iteration|update)[_=-]?(\d{1,12})(?=[/._-]|$)/gi;

/**
 * The step in a path: `12.jsonl` of verl, `step_12/…` of prime-rl, `completions_00012.parquet` of TRL. If the path has
 * several, the last counts, because a run's folder may be named after its first step. Null if it has none.
 */
export function stepOfPath(path: string): number | null {
  const name = path.split('/').at(-1) ?? '';
  const fileNumber = /^(\d{1,12})\.(?:jsonl|ndjson|json|parquet)(?:\.(?:zst|gz))?$/i.exec(name)?.[1];
  const digits = fileNumber ?? [...path.matchAll(STEP_IN_PATH)].at(-1)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A path without the number of a part: the same for `rank_0.jsonl` and `rank_1.jsonl`, and for all files of one step of a run. */
export function runOfPath(path: string): string {
  return path.replace(
    /(?<![a-z])(rank|part|shard|worker)[_=-]?\d+|\d+-of-(?=\d+)/gi,
    (_, part: string | undefined) => part ?? '',
  );
}

import { ProblemError } from '../base/problem.ts';

/** Bytes a file may have. */
export const MOST_BYTES = 1_000_000;

/** Throws ProblemError for a file that is too large; ask before reading it. */
export function checkSize(bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  const megabytes = (bytes / 1e6).toFixed(1);
  throw new ProblemError([
    `The facts take ${megabytes} MB; at most ${MOST_BYTES / 1e6} MB fit. Keep those you want to ask about.`,
  ]);
}

/** Text of UTF-8 bytes, without a byte-order mark. Throws ProblemError for anything else, with the line. */
export function decode(content: Uint8Array | string): string {
  if (typeof content === 'string') {
    checkSize(new TextEncoder().encode(content).length);
    return content.replace(/^\ufeff/, '');
  }
  checkSize(content.length);
  const [first, second] = content;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new ProblemError(['The file is UTF-16. Save it as “CSV UTF-8”.']);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    const before = new TextDecoder().decode(content).split('\ufffd', 1)[0] ?? '';
    throw new ProblemError([
      `Line ${before.split(/\r\n|\n|\r/).length} has bytes that are not UTF-8. Save the file as “CSV UTF-8”.`,
    ]);
  }
}

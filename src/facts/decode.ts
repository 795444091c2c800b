import { ProblemError } from '../base/problem.ts';

/** Maximum size of a facts file. */
export const MAX_FACTS_BYTES = 1_000_000;

/** Throws ProblemError if a facts file is too large. Call it before reading the file. */
export function checkSize(bytes: number): void {
  if (bytes <= MAX_FACTS_BYTES) return;
  const megabytes = (bytes / 1e6).toFixed(1);
  throw new ProblemError([
    `The facts take ${megabytes} MB; at most ${MAX_FACTS_BYTES / 1e6} MB fit. Keep those you want to ask about.`,
  ]);
}

/**
 * Decodes UTF-8 and drops a byte-order mark. Throws ProblemError if the bytes are not UTF-8, with the line, or too
 * many.
 */
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

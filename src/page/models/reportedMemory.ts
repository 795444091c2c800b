const GB = 2 ** 30;
/** Browsers report at most this much memory. */
const MAX_REPORTED_GB = 8;

/** Bytes of memory that the browser reports; null if it reports none, or its maximum, which may be too low. */
export function reportedMemoryBytes(): number | null {
  const gigabytes = reportedGigabytes();
  return gigabytes === null || gigabytes >= MAX_REPORTED_GB ? null : gigabytes * GB;
}

/** Sentence on the memory that the browser reports; '' if it reports none. */
export function reportedMemoryInWords(): string {
  const gigabytes = reportedGigabytes();
  if (gigabytes === null) return '';
  return `The browser reports ${gigabytes} GB of memory${gigabytes >= MAX_REPORTED_GB ? ' or more' : ''}.`;
}

const reportedGigabytes = () => ('deviceMemory' in navigator ? Number(navigator.deviceMemory) || null : null);

const GB = 2 ** 30;
/** Browsers report no more than this, whatever there is. */
const MOST_REPORTED_GB = 8;

/** Bytes of memory that the browser says the machine has; null where it does not say, or there may be more. */
export function machineBytes(): number | null {
  const gigabytes = reported();
  return gigabytes === null || gigabytes >= MOST_REPORTED_GB ? null : gigabytes * GB;
}

/** The same in a sentence; '' where the browser does not say. */
export function machineInWords(): string {
  const gigabytes = reported();
  if (gigabytes === null) return '';
  return `The browser reports ${gigabytes} GB of memory${gigabytes >= MOST_REPORTED_GB ? ' or more' : ''}.`;
}

const reported = () => ('deviceMemory' in navigator ? Number(navigator.deviceMemory) || null : null);

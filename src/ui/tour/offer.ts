const KEY = 'rollout-playground-tour';

/** Whether the tour may still be offered: who has begun it once knows of it. */
export function isOffered(): boolean {
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return true; // no storage here: the offer is made at each visit
  }
}

/** The tour was begun: it is not offered again. */
export function forgetOffer(): void {
  try {
    localStorage.setItem(KEY, 'begun');
  } catch {
    // as above
  }
}

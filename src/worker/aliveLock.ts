/** Takes a lock that is free again only when this worker has ended, however it does; `held` hears when it has it. */
export function holdForLife(lock: string, held: () => void): void {
  // absent on plain http: then silence alone tells that a worker is gone
  const { locks } = navigator as Partial<Navigator>;
  void locks?.request(lock, () => {
    held();
    return new Promise(() => undefined);
  });
}

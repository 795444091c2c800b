/** What this file reads of the global scope of a page or of a worker. Node has none of it. */
interface Place {
  readonly location?: { readonly protocol: string };
  readonly origin?: string;
  readonly isSecureContext?: boolean;
}

/** Why the browser gives less here (no workers, no shared memory) and what to do; null if it isn't the place. Works in workers too. */
export function placeProblem({ location, origin, isSecureContext }: Place = globalThis): string | null {
  if (location?.protocol === 'file:')
    return 'The page was opened as a file, and browsers give files no workers. Run npm start, and open the address that it prints.';
  if (origin === 'null')
    return 'The page is in a sandboxed frame, which gets no workers and no storage. Open the page in a tab of its own.';
  if (isSecureContext === false)
    return 'The page came over plain http, where browsers have no shared memory, no WebGPU and no storage for models. Open it over https, or on this machine as http://localhost.';
  return null;
}

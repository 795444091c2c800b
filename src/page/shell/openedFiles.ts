import { notice } from '../browser/notices.ts';
import { openDropped } from './dropHandlers.ts';

/** Opens the files that were named on the command line, as if they had been dropped, and takes their token out of the address. */
export async function openNamedFiles(): Promise<void> {
  const address = new URL(location.href);
  const base = new URL(`opened/${encodeURIComponent(address.searchParams.get('open') ?? '')}`, address);
  address.searchParams.delete('open');
  history.replaceState(history.state, '', address);
  try {
    const paths = (await (await fetched(base.href)).json()) as readonly string[];
    const files = await Promise.all(
      paths.map(async (path, i) => {
        const blob = await (await fetched(`${base.href}/${i}`)).blob();
        return { path, file: new File([blob], path.replace(/.*\//s, '')) };
      }),
    );
    await openDropped(files);
  } catch {
    notice('The files that you named could not be read. Is the command still running? Start it again.');
  }
}

async function fetched(address: string): Promise<Response> {
  const response = await fetch(address, { cache: 'no-store' });
  if (!response.ok) throw new Error(`${response.status}`);
  return response;
}

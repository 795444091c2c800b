import { notice } from '../browser/notices.ts';
import { ServedFiles } from '../files/servedFiles.ts';
import { openDropped } from './dropHandlers.ts';

/** Opens the files that were named on the command line, as if they had been dropped, and takes their token out of the address. */
export async function openNamedFiles(): Promise<void> {
  const address = new URL(location.href);
  const served = new ServedFiles(address.searchParams.get('open') ?? '');
  address.searchParams.delete('open');
  history.replaceState(history.state, '', address);
  try {
    const { files } = await served.list();
    const named = ({ path }: { readonly path: string }) =>
      served.read(path).then((blob) => ({ path, file: new File([blob], path.replace(/.*\//s, '')) }));
    await openDropped(await Promise.all(files.map(named)));
  } catch {
    notice('The files that you named could not be read. Is the command still running? Start it again.');
  }
}

// npm start: builds the page and serves it. PORT chooses the port; nothing is touched when it cannot be had.
// npm run watch -- FOLDER: the same, and the page follows the folder.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, serveHere } from './serveHere.mjs';
import { tokenOf } from './watchedFolder.mjs';

const [kind, folder] = process.argv.slice(2);
const command = kind === 'watch' ? 'npm run watch -- FOLDER' : 'npm start';
if (kind === 'watch' && folder === undefined) {
  console.error(`Name one folder: ${command}`);
  process.exit(2);
}
const from = process.env['INIT_CWD'] ?? process.cwd(); // where npm was called
const port = await freePort(command); // before the build, so that a wrong port costs no wait
process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const { build } = await import('vite');
await build({ logLevel: 'warn', base: './' });
const place = folder === undefined ? undefined : path.resolve(from, folder);
const watched = kind === 'watch' && place !== undefined ? { watched: { token: tokenOf(place), folder: place } } : {};
await serveHere('dist', { port, command, ...watched });

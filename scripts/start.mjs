// npm start: builds the page and serves it. PORT chooses the port; nothing is touched when it cannot be had.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, serveHere } from './serveHere.mjs';

const command = 'npm start';
const port = await freePort(command); // before the build, so that a wrong port costs no wait
process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const { build } = await import('vite');
await build({ logLevel: 'warn', base: './' });
await serveHere('dist', { port, command });

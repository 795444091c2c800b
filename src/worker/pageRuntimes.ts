import type { Runtimes } from '../written/languages.ts';
import { startPython } from './pythonWorker.ts';
import { virtualMachine } from './virtualMachine.ts';

/** What environments run in, in a worker of the page. */
export const PAGE_RUNTIMES: Runtimes = { machine: virtualMachine, python: startPython };

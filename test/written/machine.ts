import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { LIMITS, openSandbox, type Sandbox } from '../../src/written/script/sandbox.ts';

/** The virtual machine that environments run in. */
export const machine = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
/** Less work than the page allows: what never ends is stopped sooner. */
const SHORT = { ...LIMITS, work: 20 };

/** A sandbox with an environment in it. */
export const sandboxOf = (source: string): Promise<Sandbox> => openSandbox(machine, readDeclaration(source), SHORT);

/** An environment with one tool `act(word: string)`, whose first line is line 6. */
export const acting = (body: string, before = '', members = '') => `${before}
/** A task. */
export default class Acting {
  done = false; seen = 0; ${members}
  act(word: string): string {
${body}
  }
  reset({ draw }): string { return 'begin ' + draw.int(1000); }
  getReward() { return 1; }
}
`;

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { startPython } from '../../src/cli/pythonThread.ts';
import { readPython } from '../../src/written/python/pythonDeclaration.ts';
import { openPythonSandbox, PYTHON_LIMITS } from '../../src/written/python/pythonSandbox.ts';
import type { Sandbox } from '../../src/written/script/sandbox.ts';

/** @public While this is alive, V8 gives each thread that starts Python the code it has compiled: a third of the start's processor time. */
export const COMPILED_PYTHON = await WebAssembly.compile(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);

/** Less time than the page allows: what never ends is stopped sooner. */
const SHORT = { ...PYTHON_LIMITS, callMs: 1500 };

/** A sandbox with a Python environment in it. */
export const pythonSandboxOf = (source: string, limits = SHORT): Promise<Sandbox> =>
  openPythonSandbox(startPython, readPython(source), limits);

/** An environment with one tool `act(word: str)`, whose first line is line 6. */
export const actingInPython = (body: string, before = '', members = '    done = False') => `${before}
class Acting:
    """A task."""
${members}
    def act(self, word: str) -> str:
${body.replaceAll(/^/gm, '        ')}
    def reset(self, **kwargs):
        import random
        return f"begin {random.randrange(1000)}"
    def get_reward(self):
        return 1.0
`;

/** The shipped template in Python. */
export const HIDDEN_WORD = readFileSync('public/environments/hiddenWord.py', 'utf8');

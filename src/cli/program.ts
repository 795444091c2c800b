import { ConfigError } from '../config/configProblem.ts';
import { BackendError } from '../model/policy.ts';
import { knobsOf } from '../session/backendKnobs.ts';
import { allowFusedProducts } from './fusedProducts.ts';
import { escapeConsole } from './progressBar.ts';

/** Exit codes for a failure and for wrong arguments. */
const FAILED = 1;
const USAGE_ERROR = 2;

/**
 * Runs a command line program. `--help` prints its usage. An error is printed as a line that says what to do, without a
 * stack, and sets the exit code: 2 for wrong arguments or a backend that can't do what was asked, 1 for anything else.
 * No text that it prints can control the terminal.
 */
export async function program(
  name: string,
  usage: string,
  main: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  allowFusedProducts();
  escapeConsole();
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(typed(usage));
    return;
  }
  for (const stream of [process.stdout, process.stderr]) {
    // the reader of the output has closed it, or its file is on a full disk
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && stream === process.stdout) {
        console.error(`${name}: its output cannot be written (${error.code ?? error.message}). Send it elsewhere.`);
      }
      process.exit(FAILED);
    });
  }
  const reportFailure = (error: unknown) => {
    console.error(typed(errorSentence(name, error)));
    return error instanceof ConfigError || error instanceof BackendError ? USAGE_ERROR : FAILED;
  };
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)));
  try {
    process.exitCode = await main(args);
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

/** The text with commands as they are typed where it was started: in the npm package, its own command stands for `npm run`. */
function typed(text: string): string {
  const command = process.env['COMMAND_NAME'];
  return command ? text.replaceAll(/npm run (?:-s )?([a-z]+)(?: --(?= |$))?/gm, `${command} $1`) : text;
}

function errorSentence(name: string, error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof BackendError) {
    const knobs = knobsOf(error).join(', ');
    return knobs ? `${error.message} Look at: ${knobs}.` : error.message;
  }
  return `${name}: ${error instanceof Error ? error.message : String(error)}`;
}

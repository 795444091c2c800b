import { ConfigError } from '../config/configProblem.ts';
import { BackendError } from '../model/policy.ts';
import { allowFusedProducts } from './fusedProducts.ts';

/** Exit codes for a failure and for wrong arguments. */
const FAILED = 1;
const USAGE_ERROR = 2;

/**
 * Runs a command line program: `--help` prints its usage; what goes wrong is told in a line that says what to do,
 * without a stack, and is the exit code: 2 where the call was wrong, 1 for anything else.
 */
export async function program(
  name: string,
  usage: string,
  main: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  allowFusedProducts();
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage);
    return;
  }
  for (const stream of [process.stdout, process.stderr]) {
    // nobody reads on, or the file they go to is on a full disk
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && stream === process.stdout) {
        console.error(`${name}: its output cannot be written (${error.code ?? error.message}). Send it elsewhere.`);
      }
      process.exit(FAILED);
    });
  }
  const fail = (error: unknown) => {
    console.error(sentence(name, error));
    return error instanceof ConfigError || error instanceof BackendError ? USAGE_ERROR : FAILED;
  };
  process.on('uncaughtException', (error) => process.exit(fail(error)));
  try {
    process.exitCode = await main(args);
  } catch (error) {
    process.exitCode = fail(error);
  }
}

function sentence(name: string, error: unknown): string {
  if (error instanceof ConfigError || error instanceof BackendError) return error.message;
  return `${name}: ${error instanceof Error ? error.message : String(error)}`;
}

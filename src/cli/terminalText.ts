/** Control characters (Unicode's category Cc) other than a tab and the end of a line. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/**
 * A text that can be written to a terminal: it can't move the cursor, change colours or write to the clipboard. Control
 * characters are written as JSON writes them, `\u001b`, so a line of JSON still holds the same strings.
 */
export function terminalText(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Makes everything that this process writes with `console.log` and `console.error` pass through `terminalText`. What a
 * program writes may quote a file, an environment or a server that somebody else made.
 */
export function escapeConsole(): void {
  for (const name of ['log', 'error'] as const) {
    const write = console[name].bind(console);
    console[name] = (...values: readonly unknown[]) =>
      write(...values.map((value) => (typeof value === 'string' ? terminalText(value) : value)));
  }
}

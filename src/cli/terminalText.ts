/** Control characters (Unicode's category Cc) other than a tab and the end of a line. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Can't move the cursor, change colours or write to the clipboard: control characters become JSON's `\u001b`, so JSON stays intact. */
export function terminalText(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What `console.log` and `console.error` write goes through `terminalText`: it may quote files and servers that somebody else made. */
export function escapeConsole(): void {
  for (const name of ['log', 'error'] as const) {
    const write = console[name].bind(console);
    console[name] = (...values: readonly unknown[]) =>
      write(...values.map((value) => (typeof value === 'string' ? terminalText(value) : value)));
  }
}

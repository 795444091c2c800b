/** How a call of a tool is written, for people who write one in an agent's place. */
export function callForm(tools: readonly string[]): string {
  return `{"name": "${tools[0] ?? ''}", "arguments": {…}}`;
}

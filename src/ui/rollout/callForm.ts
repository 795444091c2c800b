/** Template of a tool call, for a person who plays the agent. */
export function callForm(tools: readonly string[]): string {
  return `{"name": "${tools[0] ?? ''}", "arguments": {…}}`;
}

/** Template of a tool call, for a person who plays the agent. */
export function callTemplate(tools: readonly string[]): string {
  return `{"name": "${tools[0] ?? ''}", "arguments": {…}}`;
}

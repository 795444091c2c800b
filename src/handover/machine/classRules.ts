import { type ToolFace, parameterName } from '../../text/toolSchema.ts';
import { type ClassSettings, rewardProblem, weightedReward } from '../../written/classSettings.ts';
import { type ArgumentValues, callProblem } from '../../written/plays.ts';

/**
 * The page's rules for calls and rewards, for inside.js in a handed-over folder, where no page checks a call before it
 * is made. `rulesText` is the text of `machine/environment.json`.
 */
export function classRulesOf(rulesText: string) {
  const { tools, ...settings } = JSON.parse(rulesText) as ClassSettings & { readonly tools: readonly ToolFace[] };
  return {
    /** The values of a call in the order of the tool's parameters, or why it can't be made. */
    read(tool: string, given: ArgumentValues) {
      const refused = callProblem(tools, tool, given);
      if (refused !== null) return { refused };
      const { parameters = [] } = tools.find(({ name }) => name === tool) ?? {};
      return { values: parameters.map((parameter) => given[parameterName(parameter)]) };
    },
    reward(parts: Readonly<Record<string, number>>) {
      const problem = rewardProblem(parts, settings);
      return problem === null ? { reward: weightedReward(parts, settings) } : { problem, line: null };
    },
  };
}

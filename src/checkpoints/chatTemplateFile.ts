/** The one tool of a word-level agent, as messages name it: a turn `<call> w w </call>` calls it with those words. */
export const CALL_TOOL = 'call';
/** Its one argument: the words of the call. */
export const CALL_ARGUMENT = 'words';

/**
 * chat_template.jinja. What a message becomes never depends on what follows it, so that sampled tokens can be kept and only what is new is
 * tokenized: a user's words, an agent's turns, `<obs> … </obs>` around what a tool said, each after a blank. There is no generation
 * prompt: the agent's turn begins where the environment's ends. Tools are not listed, for the agent was never told of them; arguments
 * and tools of other names are written out, so that nothing of a message is lost.
 */
export const CHAT_TEMPLATE = [
  '<bos>',
  '{%- for message in messages %}',
  "{%- if message.role == 'tool' %} <obs>",
  '{%- if message.content %} {{ message.content }}{% endif %} </obs>',
  '{%- else %}',
  '{%- if message.content %} {{ message.content }}{% endif %}',
  '{%- for tool_call in message.tool_calls or [] %}',
  '{%- set called = tool_call.function or tool_call %} <call>',
  `{%- if called.name != '${CALL_TOOL}' %} {{ called.name }}{% endif %}`,
  '{%- if called.arguments is string %} {{ called.arguments }}',
  '{%- else %}{% for name, value in (called.arguments or {}).items() %}',
  `{%- if name != '${CALL_ARGUMENT}' %} {{ name }}{% endif %} {{ value }}`,
  '{%- endfor %}{% endif %} </call>',
  '{%- endfor %}',
  '{%- endif %}',
  '{%- endfor %}',
].join('\n');

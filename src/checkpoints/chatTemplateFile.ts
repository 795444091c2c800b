/** A word-level agent's only tool in chat messages. The turn `<call> a b </call>` calls it with two words, a and b. */
export const CALL_TOOL = 'call';
/** The name of that tool's only argument, the words of the call. */
export const CALL_ARGUMENT = 'words';

/**
 * chat_template.jinja. It writes user messages and the agent's turns unchanged, and puts a tool's answer between
 * `<obs>` and `</obs>`, each after a blank. The text of a message never depends on later messages, so sampled tokens
 * stay valid and only new text has to be tokenized. There is no generation prompt, because the agent's turn begins
 * directly after the environment's. Tools are not listed, because training never listed them. Tools and arguments with
 * other names are written out, so that no part of a message is lost.
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

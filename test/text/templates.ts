/** SmolLM2's chat template, as its GGUF carries it: any role is written as it is, tools are not. */
export const SMOLLM2 = `{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}`;

/** A template with tools and a role for what they say, as Qwen2.5's. */
export const TOOLS = `{%- if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' else 'You help.' }}
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role != 'system' or not tools %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

/** One that leaves out the thoughts of turns that are past, as templates of reasoning models may. */
export const FORGETS = TOOLS.replace(
  '{{ message.content }}<|im_end|>\n{% endif %}\n{%- endfor %}',
  "{{ message.content if loop.last else message.content.split('</think>')[-1].lstrip('\\n') }}<|im_end|>\n{% endif %}\n{%- endfor %}",
);

/** One that says at the top how many messages there are. */
export const COUNTS = `<|im_start|>system
{{ messages | length }} messages<|im_end|>
${TOOLS}`;

/**
 * chat_template.jinja of this project's own text model. It is ChatML with one line per tool in the system message,
 * observations as messages of role `tool`, and calls in `<tool_call>`. A longer conversation only appends to a shorter
 * one. A tool's line takes few tokens, because a small model has to read it in every prompt.
 */
export const AGENT_TEMPLATE = String.raw`{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n' }}
    {%- endif %}
    {%- for tool in tools %}
        {{- tool.function.name + '(' }}
        {%- for name, parameter in tool.function.parameters.properties.items() %}
            {{- name + ': ' + parameter.type }}
            {%- if not loop.last %}
                {{- ', ' }}
            {%- endif %}
        {%- endfor %}
        {{- '): ' + tool.function.description }}
        {%- if not loop.last %}
            {{- '\n' }}
        {%- endif %}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}
        {{- raise_exception('got the role ' + message.role + '; want system, user, assistant or tool') }}
    {%- endif %}
    {%- if message.role != 'system' or not tools %}
        {{- '<|im_start|>' + message.role + '\n' }}
        {{- message.content or '' }}
        {%- for tool_call in message.tool_calls or [] %}
            {%- set called = tool_call.function or tool_call %}
            {{- '<tool_call>\n{"name": "' + called.name + '", "arguments": ' }}
            {{- called.arguments | tojson }}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
`;

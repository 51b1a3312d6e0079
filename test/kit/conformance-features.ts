/**
 * The tools, prompts and resources that the conformance suite's scenarios call by name, with the words
 * that they look for. The names are the suite's.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type ElicitRequestFormParams,
  type GetPromptResult,
  type ReadResourceResult,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

/** The server below the high-level one: it lists schemas as they are written. */
type Server = McpServer['server'];
type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Arguments = Readonly<Record<string, unknown>>;

interface Feature {
  readonly description: string;
  readonly inputSchema?: Tool['inputSchema'];
  readonly call: (args: Arguments, extra: Extra) => CallToolResult | Promise<CallToolResult>;
}

interface Prompt {
  readonly description: string;
  readonly arguments?: readonly string[];
  readonly messages: (args: Arguments) => GetPromptResult['messages'];
}

export const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
};

const redPixelPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silentWav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, data: redPixelPng, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
});

const tools: Readonly<Record<string, Feature>> = {
  test_simple_text: {
    description: 'Answers with a text.',
    call: () => ({ content: [text('This is a simple text response for testing.')] }),
  },
  test_image_content: {
    description: 'Answers with an image.',
    call: () => ({ content: [image] }),
  },
  test_audio_content: {
    description: 'Answers with a sound.',
    call: () => ({ content: [{ type: 'audio', data: silentWav, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Answers with an embedded resource.',
    call: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    description: 'Answers with a text, an image and a resource.',
    call: () => ({
      content: [
        text('Multiple content types test:'),
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: 'Answers with an error.',
    call: () => ({ isError: true, content: [text('This tool intentionally returns an error for testing')] }),
  },
  test_tool_with_logging: {
    description: 'Sends three log messages while it runs.',
    call: async (_args, extra) => {
      const log = (data: string) =>
        extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await log('Tool execution started');
      await delay(50);
      await log('Tool processing data');
      await delay(50);
      await log('Tool execution completed');
      return { content: [text('Tool with logging executed successfully')] };
    },
  },
  test_tool_with_progress: {
    description: 'Reports its progress in three steps.',
    call: async (_args, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await delay(50);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: 100 };
        await extra.sendNotification({ method: 'notifications/progress', params });
      }
      return { content: [text('Tool with progress executed successfully')] };
    },
  },
  test_sampling: {
    description: 'Asks the client to sample.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    call: async (args, extra) => {
      const messages = [{ role: 'user' as const, content: text(String(args.prompt)) }];
      const request = { method: 'sampling/createMessage' as const, params: { messages, maxTokens: 100 } };
      const { content } = await extra.sendRequest(request, CreateMessageResultSchema);
      return { content: [text(`LLM response: ${content.type === 'text' ? content.text : content.type}`)] };
    },
  },
  test_elicitation: {
    description: 'Asks the user for a name and an address.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    call: (args, extra) =>
      ask(extra, String(args.message), {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      }),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with a default for every primitive type.',
    call: (_args, extra) =>
      ask(extra, 'Please review the defaults', {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
      }),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with every form of enumeration.',
    call: (_args, extra) => ask(extra, 'Please choose', enumerations),
  },
  test_reconnection: {
    description: 'Closes its stream in mid-call, and answers when the client comes back.',
    call: async (_args, extra) => {
      extra.closeSSEStream?.();
      await delay(100);
      return { content: [text('Reconnection test completed successfully')] };
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: (args) => ({ content: [text(JSON.stringify(args))] }),
  },
};

const enumerations: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
      ],
    },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
        ],
      },
    },
  },
};

const prompts: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: {
    description: 'A prompt without arguments.',
    messages: () => [{ role: 'user', content: text('This is a simple prompt for testing.') }],
  },
  test_prompt_with_arguments: {
    description: 'A prompt with two arguments.',
    arguments: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [
      { role: 'user', content: text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`) },
    ],
  },
  test_prompt_with_embedded_resource: {
    description: 'A prompt with an embedded resource.',
    arguments: ['resourceUri'],
    messages: ({ resourceUri }) => [
      {
        role: 'user',
        content: resource(String(resourceUri), 'text/plain', 'Embedded resource content for testing.'),
      },
      { role: 'user', content: text('Please process the embedded resource above.') },
    ],
  },
  test_prompt_with_image: {
    description: 'A prompt with an image.',
    messages: () => [
      { role: 'user', content: image },
      { role: 'user', content: text('Please analyze the image above.') },
    ],
  },
};

const resources: Readonly<Record<string, ReadResourceResult['contents'][number] & { readonly mimeType: string }>> = {
  'test://static-text': {
    uri: 'test://static-text',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  'test://static-binary': { uri: 'test://static-binary', mimeType: 'image/png', blob: redPixelPng },
  'test://watched-resource': { uri: 'test://watched-resource', mimeType: 'text/plain', text: 'Watched.' },
};

/** Gives a server everything that the suite asks for. */
export function addFeatures(server: Server): void {
  addTools(server);
  addPrompts(server);
  addResources(server);
}

function addTools(server: Server): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: inputSchema ?? { type: 'object' as const },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new McpError(-32602, `Unknown tool: ${params.name}`);
    return tool.call(params.arguments ?? {}, extra);
  });
}

function addPrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: prompt.description,
      arguments: (prompt.arguments ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new McpError(-32602, `Unknown prompt: ${params.name}`);
    return { messages: prompt.messages(params.arguments ?? {}) };
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

function addResources(server: Server): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.values(resources).map(({ uri, mimeType }) => ({ uri, name: uri, description: uri, mimeType })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      const body = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: 'application/json', text: body }] };
    }
    const found = resources[uri];
    if (found === undefined) throw new McpError(-32002, `Resource not found: ${uri}`, { uri });
    return { contents: [found] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
}

async function ask(
  extra: Extra,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
): Promise<CallToolResult> {
  const request = { method: 'elicitation/create' as const, params: { message, requestedSchema } };
  const { action, content } = await extra.sendRequest(request, ElicitResultSchema);
  return { content: [text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`)] };
}

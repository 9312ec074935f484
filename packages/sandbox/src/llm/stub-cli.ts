/**
 * A stand-in for the Claude CLI: speaks the stream-json protocol on stdin and stdout, and asks the Messages
 * endpoint of the sandbox as the CLI does. Its source is written to a file and run in a process of its own, so
 * it uses nothing from outside of the function.
 */
function stubCli(): void {
  interface Block {
    readonly type?: string;
    readonly text?: string;
  }
  interface Input {
    readonly type?: string;
    readonly request_id?: string;
    readonly request?: {
      readonly subtype?: string;
      readonly jsonSchema?: object;
      readonly sdkMcpServerManifests?: Readonly<
        Record<string, { readonly toolsListResult?: { readonly tools: readonly Tool[] } }>
      >;
    };
    readonly message?: { readonly content?: string | readonly Block[] };
  }
  interface Tool {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: object;
  }
  interface Sent {
    readonly type: string;
    readonly message?: { readonly id: string; readonly model: string };
    readonly delta?: {
      readonly text?: string;
      readonly partial_json?: string;
      readonly stop_reason?: string;
    };
    readonly usage?: object;
    readonly error?: { readonly type: string; readonly message: string };
  }
  const { argv, env } = process;
  const write = (message: object): void => {
    process.stdout.write(
      `${JSON.stringify({ ...message, session_id: 'sandbox', uuid: 'sandbox' })}\n`,
    );
  };
  const option = (name: string): string | undefined => {
    const at = argv.findIndex((word) => word === name || word.startsWith(`${name}=`));
    if (at < 0) return undefined;
    const word = argv[at] ?? '';
    return word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
  };
  if (argv.includes('--version')) return void process.stdout.write('2.1.0 (Claude Code sandbox)\n');
  if (argv[2] === 'auth') {
    const loggedIn = env['CLAUDE_CODE_OAUTH_TOKEN'] !== undefined;
    process.exitCode = loggedIn ? 0 : 1;
    return void process.stdout.write(
      `${JSON.stringify({ loggedIn, authMethod: 'oauth_token' })}\n`,
    );
  }

  const base = env['ANTHROPIC_BASE_URL'] ?? '';
  const model = option('--model') ?? 'sonnet';
  // A plan's token or a key, exactly as the environment holds them: a leaked key shows in the sandbox's log.
  const key = env['ANTHROPIC_API_KEY'];
  const credential: Record<string, string> =
    key === undefined
      ? { authorization: `Bearer ${env['CLAUDE_CODE_OAUTH_TOKEN'] ?? ''}` }
      : { 'x-api-key': key };

  /** Without its input and its request, nothing keeps the process alive. */
  const leave = (code: number): void => {
    process.exitCode = code;
    process.stdin.destroy();
  };

  const fail = (error: string, status: number | null, text: string): void => {
    const content = [{ type: 'text', text }];
    write({
      type: 'assistant',
      error,
      parent_tool_use_id: null,
      message: { id: 'synthetic', model: '<synthetic>', role: 'assistant', content },
    });
    const result = { subtype: 'success', is_error: true, api_error_status: status, result: text };
    write({ type: 'result', ...result, usage: {}, total_cost_usd: 0, stop_reason: null });
    leave(1);
  };
  const names: Record<number, string> = {
    400: 'invalid_request',
    401: 'authentication_failed',
    402: 'billing_error',
    404: 'model_not_found',
    429: 'rate_limit',
    529: 'overloaded',
  };
  const nameOf = (status: number): string =>
    names[status] ?? (status >= 500 ? 'server_error' : 'unknown');

  let schema: object | undefined;
  /** The tools of in-process servers of the SDK, as the API sees them. */
  let tools: readonly object[] = [];

  const turn = async (content: string | readonly Block[], fault: string | null): Promise<void> => {
    const send = (): Promise<Response> =>
      fetch(`${base}/v1/messages?beta=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...credential },
        body: JSON.stringify({
          model,
          stream: true,
          max_tokens: Number(env['CLAUDE_CODE_MAX_OUTPUT_TOKENS'] ?? 32_000),
          ...((option('--max-thinking-tokens') ?? '0') !== '0' && {
            thinking: { type: 'enabled' },
          }),
          messages: [{ role: 'user', content }],
          tools: schema ? [{ name: 'StructuredOutput', input_schema: schema }] : tools,
        }),
      });
    let response = await send();
    // The CLI repeats some requests itself, whatever CLAUDE_CODE_MAX_RETRIES says.
    if (response.status === 401) {
      const cause = { error_status: 401, error: 'authentication_failed' };
      const retry = { attempt: 0, max_retries: 0, retry_delay_ms: 0, ...cause };
      write({ type: 'system', subtype: 'api_retry', ...retry });
      response = await send();
    }
    for (let beta = 2; beta > 0 && response.status === 400; beta--) {
      if (env['CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS'] !== '1') response = await send();
    }
    const { status, headers } = response;
    // A plan without extra credits, which the CLI reports whether or not the plan allows the request.
    const rejected = headers.get('anthropic-ratelimit-unified-status') === 'rejected';
    const inAnHour = Math.ceil(Date.now() / 1000 + 3_600);
    write({
      type: 'rate_limit_event',
      rate_limit_info: {
        status: rejected ? 'rejected' : 'allowed',
        resetsAt: Number(headers.get('anthropic-ratelimit-unified-reset') ?? inAnHour),
        rateLimitType: 'five_hour',
        overageStatus: 'rejected',
        overageDisabledReason: 'out_of_credits',
        isUsingOverage: false,
      },
    });
    if (!response.ok || !response.body) {
      const body = (await response.json().catch(() => ({}))) as Partial<Sent>;
      const billing = body.error?.type === 'billing_error';
      return fail(
        billing ? 'billing_error' : nameOf(status),
        status,
        body.error?.message ?? 'failed',
      );
    }
    let buffer = '';
    let text = '';
    let structured = '';
    let seen = 0;
    let last: Sent | undefined;
    let id = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      buffer += decoder.decode(chunk, { stream: true });
      const events = buffer.split('\n\n');
      buffer = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data === undefined) continue;
        const sent = JSON.parse(data.slice(6)) as Sent;
        if (sent.type === 'error') {
          return fail('overloaded', 529, sent.error?.message ?? 'Overloaded');
        }
        if (sent.type === 'message_start') id = sent.message?.id ?? '';
        if (sent.type === 'message_delta') last = sent;
        text += sent.delta?.text ?? '';
        structured += sent.delta?.partial_json ?? '';
        write({ type: 'stream_event', parent_tool_use_id: null, event: sent });
        seen += sent.type === 'content_block_delta' ? 1 : 0;
        if (seen === 2 && fault === 'cli-exit-mid-turn') return leave(0);
        if (seen === 2 && fault === 'cli-crash') {
          process.stderr.write('stub: crashed\n');
          return leave(3);
        }
        if (seen === 2 && fault === 'cli-garbage') process.stdout.write('\u0000not json {\n[1,2\n');
        if (seen === 2 && fault === 'cli-deaf') await new Promise(() => {});
      }
    }
    if (!last) return fail('server_error', null, 'The stream ended early');
    const message = { id, model, role: 'assistant', content: [{ type: 'text', text }] };
    write({ type: 'assistant', parent_tool_use_id: null, request_id: `req_${id}`, message });
    const stopReason = last.delta?.stop_reason ?? null;
    // The tool was not run, and the next turn exceeds the limit.
    if (stopReason === 'tool_use' && !schema) {
      const result = {
        subtype: 'error_max_turns',
        is_error: true,
        errors: ['Reached maximum turns'],
      };
      const cost = { usage: last.usage ?? {}, total_cost_usd: 0.001, modelUsage: {} };
      write({ type: 'result', ...result, stop_reason: stopReason, ...cost });
      return leave(1);
    }
    write({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: text,
      ...(structured !== '' && { structured_output: JSON.parse(structured) as unknown }),
      stop_reason: stopReason,
      usage: last.usage ?? {},
      total_cost_usd: 0.001,
      modelUsage: {},
    });
    return undefined;
  };

  const main = async (): Promise<void> => {
    const asked = await fetch(`${base}/__cli`).then(
      (response) => response.json() as Promise<{ fault: string | null }>,
      () => ({ fault: null }),
    );
    const { fault } = asked;
    if (fault === 'cli-no-start') return void setInterval(() => undefined, 1_000);
    if (fault === 'cli-deaf') {
      process.on('SIGTERM', () => undefined);
      setInterval(() => undefined, 1_000);
    }
    const commands = {
      commands: [],
      models: [
        { value: 'sonnet', displayName: 'Sonnet', description: 'Sonnet of the sandbox' },
        { value: 'opus', displayName: 'Opus', description: 'Opus of the sandbox' },
      ],
      account: {},
      output_style: 'default',
      available_output_styles: [],
      agents: [],
    };
    const take = (line: string): void => {
      const input = JSON.parse(line) as Input;
      if (input.type === 'control_request') {
        schema = input.request?.jsonSchema ?? schema;
        tools = Object.entries(input.request?.sdkMcpServerManifests ?? {}).flatMap(
          ([server, { toolsListResult }]) =>
            (toolsListResult?.tools ?? []).map(({ name, description, inputSchema }) => ({
              name: `mcp__${server}__${name}`,
              description,
              input_schema: inputSchema,
            })),
        );
        const response = { subtype: 'success', request_id: input.request_id, response: commands };
        return write({ type: 'control_response', response });
      }
      if (input.type !== 'user') return;
      write({ type: 'system', subtype: 'init', model, tools: [], apiKeySource: 'none' });
      const onError = (cause: unknown): void => fail('server_error', null, String(cause));
      void turn(input.message?.content ?? '', fault).catch(onError);
    };
    let buffer = '';
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (chunk: string) => {
      const lines = (buffer + chunk).split('\n');
      buffer = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') take(line);
    });
  };
  void main();
}

/** The program as a file's content. */
export const stubCliSource = (): string => `(${stubCli.toString()})();\n`;

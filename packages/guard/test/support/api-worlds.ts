import type { ApiReply, ApiRoutes } from './api-double.js';

export type Item = Record<string, unknown>;

/** What an API keeps, and its routes. */
export interface ApiWorld {
  readonly state: () => string;
  readonly routes: ApiRoutes;
}

const ok = (more: object = {}): ApiReply => ({ json: { ok: true, ...more } });

/** Slack's Web API. Its errors are members of a successful response. */
export function slackWorld(): ApiWorld {
  const messages: Item[] = [];
  const reactions: string[] = [];
  return {
    state: () => JSON.stringify([messages, reactions]),
    routes: {
      'GET slack.com/api/conversations.list': () =>
        ok({ channels: [{ id: 'C1', name: 'general' }] }),
      'GET slack.com/api/conversations.history': () => ok({ messages }),
      'GET slack.com/api/conversations.replies': () => ok({ messages }),
      'GET slack.com/api/users.list': () => ok({ members: [] }),
      'GET slack.com/api/users.profile.get': () => ok({ profile: {} }),
      'POST slack.com/api/chat.postMessage': ({ body }) => {
        const message = { ...body, ts: `1700000000.00000${messages.length + 1}` };
        messages.push(message);
        return ok({ ts: message.ts, message });
      },
      'POST slack.com/api/reactions.add': ({ body }) => {
        const reaction = JSON.stringify(body);
        if (reactions.includes(reaction)) return { json: { ok: false, error: 'already_reacted' } };
        reactions.push(reaction);
        return ok();
      },
    },
  };
}

/** Notion's API, for the server's setting `BASE_URL`. */
export function notionWorld(): ApiWorld {
  const page = { object: 'page', properties: {}, parent: {}, markdown: '' } as Item;
  const block = { object: 'block', in_trash: false } as Item;
  let properties: Item = { Name: { type: 'title' }, Old: { type: 'number' } };
  const [pages, children, comments, sources]: [Item[], unknown[], Item[], Item[]] = [
    [],
    [],
    [],
    [],
  ];
  const list = (results: readonly unknown[] = []): ApiReply => ({
    json: { object: 'list', results, has_more: false, next_cursor: null },
  });
  const set = (item: Item) => (request: { body: object }) => ({
    json: Object.assign(item, request.body),
  });
  const add = (items: Item[]) => (request: { body: object }) => {
    const item = { id: String(items.length), ...request.body };
    items.push(item);
    return { json: item };
  };
  const get = (json: object) => () => ({ json });
  return {
    state: () => JSON.stringify([page, block, properties, pages, children, comments, sources]),
    routes: {
      'GET notion/v1/users/:id': get({ object: 'user' }),
      'GET notion/v1/users': () => list(),
      'POST notion/v1/search': () => list([page]),
      'GET notion/v1/blocks/:id/children': () => list(children),
      'PATCH notion/v1/blocks/:id/children': ({ body }) => {
        children.push(...(body['children'] as unknown[]));
        return list(children);
      },
      'GET notion/v1/blocks/:id': get(block),
      'PATCH notion/v1/blocks/:id': set(block),
      'DELETE notion/v1/blocks/:id': () => ({ json: Object.assign(block, { in_trash: true }) }),
      'GET notion/v1/pages/:id': get(page),
      'PATCH notion/v1/pages/:id': set(page),
      'POST notion/v1/pages': add(pages),
      'GET notion/v1/pages/:id/properties/:property': get({ object: 'property_item' }),
      'POST notion/v1/pages/:id/move': set(page),
      'GET notion/v1/pages/:id/markdown': get({ markdown: page['markdown'] }),
      'PATCH notion/v1/pages/:id/markdown': ({ body }) => {
        const { replace_content: whole, insert_content: more } = body as Record<string, Item>;
        const before = String(page['markdown']);
        page['markdown'] = whole ? whole['new_str'] : before + String(more?.['content']);
        return { json: { markdown: page['markdown'] } };
      },
      'GET notion/v1/comments': () => list(comments),
      'POST notion/v1/comments': add(comments),
      'POST notion/v1/data_sources/:id/query': () => list([page]),
      'GET notion/v1/data_sources/:id': () => ({ json: { object: 'data_source', properties } }),
      'GET notion/v1/data_sources/:id/templates': () => list(),
      'PATCH notion/v1/data_sources/:id': ({ body }) => {
        for (const [name, change] of Object.entries(body['properties'] as Record<string, Item>)) {
          if (!(name in properties)) {
            const message = `Could not find property with name or id: ${name}`;
            return {
              status: 400,
              json: { object: 'error', status: 400, code: 'validation_error', message },
            };
          }
          const { [name]: property, ...others } = properties;
          properties = { ...others, [String(change['name'])]: property };
        }
        return { json: { object: 'data_source', properties } };
      },
      'POST notion/v1/data_sources': add(sources),
      'GET notion/v1/databases/:id': get({ object: 'database' }),
    },
  };
}

/** Brave's search API. The server's own limit of a request a second needs a clock that goes on. */
export function braveWorld(): ApiWorld {
  const found = (json: object) => (): ApiReply => ({
    json,
    headers: { 'x-test-clock-ms': '1001' },
  });
  return {
    state: () => '',
    routes: {
      'GET api.search.brave.com/res/v1/web/search': found({
        web: { results: [{ title: 't', description: 'd', url: 'https://example.com/' }] },
        locations: { results: [] },
      }),
    },
  };
}

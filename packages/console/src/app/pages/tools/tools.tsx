import type { JSX } from 'preact';
import type { ToolInfo, ToolsResponse } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { formatCount, plural } from '../../lib/format.js';
import { place, setQuery } from '../../lib/router.js';
import { Empty } from '../../ui/basics.js';
import { PageHead, Result } from '../../ui/page.js';
import { EffectBadge } from './effect.js';

export function Tools(): JSX.Element {
  const loaded = useLoad(api.tools, 'tools');
  return (
    <>
      <PageHead
        title="Tools"
        lead={
          loaded.value
            ? lead(loaded.value)
            : 'What agents can call, what it does to the world, and what it costs a model.'
        }
      />
      <Result loaded={loaded} what="tools">
        {(tools) => <List tools={tools} />}
      </Result>
    </>
  );
}

function lead({ tools, profile, tokens }: ToolsResponse): string {
  const cost = tokens
    ? ` A model reads ${formatCount(tokens.model)} tokens for them; the whole listing has ${formatCount(tokens.listing)}.`
    : '';
  return `${plural(tools.length, 'tool')} in the profile ${profile}.${cost}`;
}

function List({ tools: { tools, elsewhere } }: { readonly tools: ToolsResponse }): JSX.Element {
  const search = place.value.query.get('q') ?? '';
  const matching = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(search.toLowerCase()),
  );
  const categories = [...new Set(matching.map(({ category }) => category))].toSorted();
  return (
    <>
      <div class="filters" role="search" aria-label="Filter tools">
        <input
          class="input is-search"
          type="search"
          aria-label="Search tools"
          placeholder="Name or description"
          value={search}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
      </div>
      {matching.length === 0 && (
        <Empty title={tools.length === 0 ? 'This process serves no tools' : 'No tool matches'}>
          <p>
            {tools.length === 0
              ? 'Add a pack to the configuration, or choose a wider profile.'
              : 'Search for a part of a name, such as “post” or “search”.'}
          </p>
        </Empty>
      )}
      {categories.map((category) => (
        <Category
          key={category}
          category={category}
          tools={matching.filter((tool) => tool.category === category)}
        />
      ))}
      {elsewhere.length > 0 && (
        <section class="card">
          <div class="card-head">
            <h2>In other processes</h2>
            <span class="muted small">Their details are on their own pages</span>
          </div>
          <ul class="card-body elsewhere">
            {elsewhere.map(({ name, effect, process_id, process_name }) => (
              <li key={`${process_id} ${name}`}>
                <span class="mono wrap-anywhere">{name}</span> <EffectBadge effect={effect} />{' '}
                <span class="muted small">{process_name}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface CategoryProps {
  readonly category: string;
  readonly tools: readonly ToolInfo[];
}

function Category({ category, tools }: CategoryProps): JSX.Element {
  return (
    <section class="card" aria-label={category}>
      <div class="card-head">
        <h2>{category}</h2>
        <span class="count">{tools.length}</span>
      </div>
      <ul class="tool-list">
        {tools.map(({ name, title, effect, tokens }) => (
          <li key={name}>
            <a class="mono" href={`/tools/${encodeURIComponent(name)}`}>
              {name}
            </a>
            <span class="truncate muted">{title}</span>
            <EffectBadge effect={effect} />
            <span class="small muted num">
              {tokens ? `${formatCount(tokens.model)} tokens` : ''}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

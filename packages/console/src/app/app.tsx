import type { JSX } from 'preact';
import { connection, live } from './data/stream.js';
import { session } from './data/session.js';
import { match, place } from './lib/router.js';
import { Approval } from './pages/approvals/approval.js';
import { Approvals } from './pages/approvals/approvals.js';
import { Audit } from './pages/audit.js';
import { Call } from './pages/calls/call.js';
import { Calls } from './pages/calls/calls.js';
import { NotFound } from './pages/not-found.js';
import { Now } from './pages/now/now.js';
import { OperationPage } from './pages/operations/operation.js';
import { Operations } from './pages/operations/operations.js';
import { Policy } from './pages/policy/policy.js';
import { Settings } from './pages/settings.js';
import { SignIn } from './pages/sign-in.js';
import { ToolPage } from './pages/tools/tool.js';
import { Tools } from './pages/tools/tools.js';
import { Shell } from './shell.js';
import { Loading } from './ui/basics.js';

type Page = (parameters: Readonly<Record<string, string>>) => JSX.Element;

const PAGES: readonly (readonly [string, Page])[] = [
  ['/', () => <Now />],
  ['/calls', () => <Calls />],
  ['/calls/:id', ({ id = '' }) => <Call id={id} />],
  ['/operations', () => <Operations />],
  ['/operations/:id', ({ id = '' }) => <OperationPage id={id} />],
  ['/approvals', () => <Approvals />],
  ['/approvals/:id', ({ id = '' }) => <Approval id={id} />],
  ['/tools', () => <Tools />],
  ['/tools/:name', ({ name = '' }) => <ToolPage name={name} />],
  ['/policy', () => <Policy />],
  ['/audit', () => <Audit />],
  ['/settings', () => <Settings />],
];

export function App(): JSX.Element {
  const { value } = session;
  if (value.state === 'signed-out') return <SignIn failure={value.failure} />;
  if (value.state === 'unreachable') return <SignIn unreachable />;
  if (value.state === 'loading') return <Loading what="the console" />;
  return <Shell>{page(place.value.path)}</Shell>;
}

function page(path: string): JSX.Element {
  for (const [pattern, show] of PAGES) {
    const parameters = match(pattern, path);
    if (!parameters) continue;
    if (live.value || connection.value.state === 'lost') return show(parameters);
    return <Loading what="the state of your tools" />;
  }
  return <NotFound />;
}

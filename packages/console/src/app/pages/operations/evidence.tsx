import type { JSX } from 'preact';
import type { Evidence, Operation } from '../../../api/types.js';
import { Badge, Facts, Time, type Tone } from '../../ui/basics.js';
import { JsonTree } from '../../ui/json-tree.js';
import { responseText } from './evidence-text.js';

interface EvidenceProps {
  readonly evidence: Evidence;
  readonly blocked: Operation['blocked'];
}

const SENT: Readonly<Record<Evidence['sent']['state'], readonly [Tone, string]>> = {
  no: ['ok', 'Not sent'],
  maybe: ['unknown', 'May have been sent'],
  answered: ['info', 'The upstream responded'],
};

const KEY: Readonly<Record<Evidence['key']['by'], string>> = {
  key: 'a key that the agent gave',
  template: 'the key template of the tool',
  content: 'its content',
};

/** Was it sent, under which key, what was the last response, what did reading back find. */
export function EvidenceList({ evidence, blocked }: EvidenceProps): JSX.Element {
  const { sent, key, last_response: response, read_back: readBack } = evidence;
  const [tone, word] = SENT[sent.state];
  return (
    <Facts
      facts={[
        {
          name: 'Was it sent?',
          value: (
            <>
              <Badge tone={tone}>{word}</Badge> {sent.text}
              {sent.at !== undefined && (
                <span class="muted">
                  {' '}
                  <Time at={sent.at} zone />
                </span>
              )}
            </>
          ),
        },
        {
          name: 'Under which key?',
          value: (
            <>
              Identified by {KEY[key.by]}: <code class="wrap-anywhere">{key.value}</code>
            </>
          ),
        },
        {
          name: 'Last response',
          value: response ? (
            <>
              {responseText(response)}
              {response.details !== undefined && <JsonTree value={response.details} open={0} />}
            </>
          ) : (
            <span class="muted">none is stored</span>
          ),
        },
        {
          name: 'What reading back found',
          value: readBack ? (
            <>
              {readBack.text}
              {readBack.at !== undefined && (
                <span class="muted">
                  {' '}
                  <Time at={readBack.at} zone />
                </span>
              )}
            </>
          ) : (
            <span class="muted">{blocked?.explanation ?? 'it was not read back'}</span>
          ),
        },
      ]}
    />
  );
}

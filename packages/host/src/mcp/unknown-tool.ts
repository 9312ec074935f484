import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { didYouMean, closestMatches } from '@toolkeel/pack-kit';

/** The protocol's own error for a tool that is not there, with the names that may have been meant. */
export function unknownTool(name: string, names: Iterable<string>): ProtocolError {
  const known = [...names];
  const message = `There is no tool "${name.slice(0, 100)}".${didYouMean(name, known)}`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    closestMatches: closestMatches(name, known),
  });
}

import { GitHubClient } from './client.js';
import type { InstallationOptions } from './credentials.js';
import type { GitHubClientOptions } from './request.js';

/** A client for the installation of a GitHub App. Its tokens are minted and renewed as needed. */
export class InstallationClient extends GitHubClient {
  readonly installationId: number;

  constructor(options: Omit<GitHubClientOptions, 'token'> & InstallationOptions) {
    super(options, options);
    this.installationId = options.installationId;
  }
}

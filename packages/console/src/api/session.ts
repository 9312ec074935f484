/** POST /api/session (without a cookie): exchanges the code of a link for a session. */
export interface SignInRequest {
  readonly code: string;
  /** The name in the audit, 1 to 100 letters, digits, ` ._@-`. Default: the name in the link. */
  readonly name?: string;
}

/** GET /api/session; also the response to POST /api/session. */
export interface SessionResponse {
  /** Who decides: the `actor` of audit entries. */
  readonly name: string;
  readonly by: 'link' | 'token';
  /** Absent with a token. */
  readonly expires_at?: string;
  readonly version: string;
  /** The process that serves this page, as in `ProcessState.id`. */
  readonly process_id: string;
  /** Shown as a warning, such as a journal in memory (sandbox). */
  readonly cautions: readonly string[];
}

/** POST /api/session/end, body `{}`: signs out. */
export interface SignOutResponse {
  readonly signed_out: true;
}

/** POST /api/session/links (token only): creates a one-time link, for `toolkeel console`. */
export interface CreateLinkRequest {
  readonly name?: string;
}
export interface CreateLinkResponse {
  readonly link: string;
  readonly expires_at: string;
}

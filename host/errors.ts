/**
 * Every error code that Annex can answer with: its HTTP status, what it means, and after how many seconds it is worth
 * trying again (the header Retry-After, RFC 9110 section 10.2.3). The docs page of errors is checked against this table.
 */
export const errorCodes = {
  // What a caller sent
  bad_request: { status: 400, meaning: 'The request cannot be understood as it is.' },
  body_invalid: { status: 422, meaning: 'The JSON body does not match the schema of the route.' },
  body_too_large: { status: 413, meaning: 'The request body is over the limit.' },
  encoding_unsupported: { status: 415, meaning: 'The body is compressed, or in another charset than UTF-8.' },
  unauthorized: {
    status: 401,
    meaning: 'No token or session was sent, or it is unknown or has expired. So it is for a wrong password.',
  },
  forbidden: { status: 403, meaning: 'The token or session is valid, but not for this.' },
  confirmation_required: {
    status: 403,
    meaning: 'The session needs the password or a passkey again: `POST /v1/sessions/current/confirmation`.',
  },
  missing_scope: { status: 403, meaning: 'The integration does not declare the scope that the call needs.' },
  not_found: { status: 404, meaning: 'No such route or record, or not one that the token may see.' },
  method_not_allowed: { status: 405, meaning: 'The route exists, but not for this method.' },
  conflict: { status: 409, meaning: 'The record is not in a state that allows this.' },
  precondition_failed: {
    status: 412,
    meaning: 'The record has changed since it was read: its ETag is none of `If-Match`. Nothing was changed.',
  },
  precondition_required: {
    status: 428,
    meaning: 'A person’s edit of settings or content needs `If-Match` with the ETag of the record, or `*`.',
  },
  // Integrations
  manifest_invalid: { status: 422, meaning: 'The manifest of a plugin folder has errors.' },
  bundle_failed: { status: 422, meaning: 'The script of an integration could not be bundled.' },
  configuration_invalid: { status: 422, meaning: 'Settings do not match what the manifest declares.' },
  integration_private: {
    status: 403,
    meaning: 'The integration can be installed only by members of the organization that owns it.',
  },
  integration_unlisted: {
    status: 403,
    meaning: 'The integration can be installed only by its install link.',
  },
  agreement_missing: {
    status: 409,
    meaning: 'The organization has not agreed to what the version asks for. The details list it.',
  },
  settings_unreadable: {
    status: 503,
    meaning: 'The settings or signing secrets of a level were encrypted with another SECRET_KEY.',
  },
  event_invalid: { status: 422, meaning: 'The event does not match the schema of its type.' },
  // Public endpoints and sandboxes
  options_failed: {
    status: 502,
    meaning: 'The script answered the choices of a setting late, too large, or not in form.',
  },
  flow_refused: {
    status: 403,
    meaning: 'A connection with a provider did not begin here or in this browser, or it is over.',
  },
  connection_broken: {
    status: 409,
    meaning: 'The provider has refused the grant of a connection. It has to be made again.',
  },
  installation_paused: { status: 503, meaning: 'The installation is paused.' },
  installation_suspended: {
    status: 503,
    meaning: 'The script has ended its sandbox process again and again, and is not run until it is resumed.',
  },
  no_version: { status: 503, meaning: 'The integration has no deployed version.' },
  folders_loading: {
    status: 503,
    retryAfter: 5,
    meaning: 'Annex has just started, and has not loaded the plugin folder of this integration yet.',
  },
  sandbox_busy: {
    status: 503,
    retryAfter: 1,
    meaning:
      'Too many dispatches wait for the sandbox process, or this one has waited too long. No script was called.',
  },
  load_limit: { status: 503, meaning: 'The script used more CPU time to load than it may.' },
  cpu_limit: { status: 503, meaning: 'The script used more CPU time than one dispatch may.' },
  memory_limit: { status: 503, meaning: 'The script used more memory than its sandbox may.' },
  answer_too_large: { status: 503, meaning: 'The answer of the script is over the limit.' },
  wall_clock_limit: { status: 504, meaning: 'The script did not answer in time.' },
  machine_busy: {
    status: 503,
    retryAfter: 1,
    meaning: 'Other programs left the script too little CPU time. The script is not at fault.',
  },
  sandbox_died: { status: 502, meaning: 'The sandbox process ended while it handled the request.' },
  script_failed: { status: 500, meaning: 'The script threw. The log holds the stack under the request id.' },
  script_error: {
    status: 400,
    meaning: 'An error that the script shows. It chooses the message and the status.',
  },
  // Outbound requests
  egress_refused: { status: 403, meaning: 'Requests from here may not reach that address.' },
  egress_loop: { status: 508, meaning: 'The request has gone through too many scripts of this Annex.' },
  egress_timeout: { status: 504, meaning: 'An outbound request was not complete in time.' },
  egress_too_large: { status: 502, meaning: 'The answer to an outbound request is over the limit.' },
  egress_failed: { status: 502, meaning: 'An outbound request failed on its way.' },
  // Annex itself
  settings_invalid: { status: 500, meaning: 'A setting of Annex has a value that it cannot use.' },
  schema_older: { status: 503, meaning: 'The tables of the database are those of a build before 0.1.0.' },
  schema_newer: { status: 503, meaning: 'The tables of the database are those of a newer Annex.' },
  internal: { status: 500, meaning: 'Something failed in Annex. The log holds it under the request id.' },
  storage_full: {
    status: 507,
    meaning: 'The disk of the database, or of DATA_DIR, is full or has failed: nothing was stored.',
  },
  storage_busy: {
    status: 503,
    retryAfter: 1,
    meaning:
      'The database is locked, busy, read-only, does not let Annex in, or cannot be reached: nothing was stored.',
  },
  storage_unsure: {
    status: 503,
    retryAfter: 1,
    meaning:
      'The connection to the database was lost during a commit, or its disk failed: it may or may not be stored.',
  },
  sandbox_unavailable: {
    status: 503,
    meaning: 'No sandbox can run on this machine, or not behind the wall that is required.',
  },
  rate_limited: {
    status: 429,
    meaning:
      'The token, or the visitor of a public endpoint, has sent too many requests. `Retry-After` says when to go on.',
  },
  storage_quota: { status: 507, meaning: 'The storage of the level holds as many bytes as it may.' },
  content_quota: {
    status: 507,
    meaning: 'The kept revisions of the organization hold as many bytes as they may. Nothing was stored.',
  },
  backlog_full: { status: 429, meaning: 'The installation has as many pending deliveries as it may have.' },
  too_many_readers: { status: 503, meaning: 'As many as may read the live feed already do.' },
  console_broken: { status: 500, meaning: 'The console could not be built from its sources.' },
  unavailable: { status: 503, meaning: 'Annex is stopping, or a part of it does not answer.' },
} as const satisfies Record<string, { status: number; meaning: string; retryAfter?: number }>

export type ErrorCode = keyof typeof errorCodes

/** One thing that is wrong, and where: a settings property, a body field, a position in a file. */
export type ErrorDetail = { path: string; message: string; value?: number | string[] }

/**
 * The only error that a caller may see. Its message says what failed, where, and what to do next. Any other error is a
 * defect, and goes to the log alone.
 */
export class AnnexError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetail[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AnnexError'
    this.code = code
    this.details = options.details
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  /** In seconds, where it is worth trying again. */
  get retryAfter(): number | undefined {
    const entry: { status: number; retryAfter?: number } = errorCodes[this.code]
    return entry.retryAfter
  }
}

export const isAnnexError = (error: unknown): error is AnnexError => error instanceof AnnexError

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The answer to a request that comes after the stop has begun. */
export const stoppingError = (): AnnexError => new AnnexError('unavailable', 'Annex is stopping.')

/** For a lost connection or broken HTTP. It has no cause, because the cause's raw packet holds the request's token. */
export const requestBrokeOffError = (): AnnexError =>
  new AnnexError('bad_request', 'The body broke off, or was not sent as HTTP asks for.')

// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * What a sandbox process may send: the header of its frames, and the guest's posts in their text. Whatever does not match ends the process.
 */
export interface FrameFromSandboxProcess {
  [k: string]: unknown
}
